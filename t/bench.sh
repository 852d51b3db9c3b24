# SPDX-License-Identifier: Apache-2.0
# Runs every case of bench/run once, as small as it can be: a case that does not start any more, or that misses an answer, is a failed test.
# The program knows its cases, and counts them.
set -u

not_run() {
    echo "BENCH NOT RUN: $*"
    exit 77
}

[ -n "${HTTPD:-}" ] && [ -x "$HTTPD" ] || not_run "configure did not find httpd; give it --with-httpd=PATH."
[ -n "${PERL:-}" ] || not_run "configure did not find perl."

# Nothing else needs these programs, so only this test builds them.
log=$abs_builddir/t/bench-build.log
MAKEFLAGS='' $MAKE -C "$abs_builddir" bench-programs >"$log" 2>&1 || {
    tail -n 20 "$log"
    exit 1
}
"$PERL" "$abs_srcdir/bench/run" "$abs_builddir" --smallest
