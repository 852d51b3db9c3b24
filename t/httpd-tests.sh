# SPDX-License-Identifier: Apache-2.0
# Runs the .t files against a whole httpd, by Apache::Test, in a folder of its own below the build: t/run.
#
# VAULT_TESTS    which: families or single files, as "t/basic t/poll/12-timeout-answers-204.t"; empty: all
# VAULT_RUN      not empty: in t/run/THAT, beside another run
# VAULT_VERBOSE  not empty: each test's lines
# VAULT_VALGRIND not empty: httpd runs under valgrind
#
# httpd's children may not be root, so root runs the tests as the user nobody, in a folder that this user can reach.
# Exit code: 0 all passed, 77 not run and why, 1 otherwise.
set -u

not_run() {
    echo "HTTPD TESTS NOT RUN: $*"
    exit 77
}

[ -n "${HTTPD:-}" ] && [ -x "$HTTPD" ] || not_run "configure did not find httpd; give it --with-httpd=PATH."
[ -n "${PERL:-}" ] || not_run "configure did not find perl."
"$PERL" -MApache::TestRun -e 1 2>/dev/null ||
    not_run "the Perl module Apache::Test was not found (Debian: libapache2-mod-perl2)."
case "${SANITIZE:-no}" in
*thread*) not_run "httpd itself is not built for the thread sanitizer; use address,undefined." ;;
esac

# ---------------------------------------------------------------- the folder
run=$abs_builddir/t/run${VAULT_RUN:+/$VAULT_RUN}
if [ -d "$run" ]; then
    rm -rf "$run" || exit 1
fi
mkdir -p "$run" || exit 1
as=
keep=
if [ "$(id -u)" = 0 ]; then
    id nobody >/dev/null 2>&1 || not_run "they do not run as root, and there is no user nobody."
    as="setpriv --reuid=nobody --regid=$(id -g nobody) --clear-groups"
    $as true 2>/dev/null || not_run "they do not run as root, and setpriv cannot become nobody."
    if ! $as sh -c "cd '$run' && ls -d '$APACHE_LIBEXECDIR'" >/dev/null 2>&1; then
        keep=$run
        run=$(mktemp -d "${TMPDIR:-/tmp}/mod_vault-tests.XXXXXX") || exit 1
        echo "nobody cannot reach $keep, so the tests run in $run."
    fi
fi
mkdir -p "$run/t/conf" "$run/t/lib" "$run/t/htdocs" "$run/modules" "$run/tap" "$run/home"

cp "$abs_srcdir/t/TEST" "$run/t/TEST"
for family in lib conf htdocs $(echo "$HTTPD_TEST_FAMILIES" | sed 's|t/||g'); do
    [ -d "$abs_srcdir/t/$family" ] || continue
    mkdir -p "$run/t/$family"
    cp -R "$abs_srcdir/t/$family/." "$run/t/$family/" || exit 1
done
# The sources may be read-only (make distcheck); Apache::Test writes beside what it reads.
chmod -R u+w "$run" || exit 1
cp "$abs_builddir/client/vault.js" "$run/" || exit 1
cp "$abs_builddir/conf/vault.conf" "$run/" || exit 1
for module in "$abs_builddir"/.libs/*.so "$abs_builddir"/t/test_module/.libs/*.so; do
    [ -f "$module" ] && { cp -L "$module" "$run/modules/" || exit 1; }
done
mkdir -p "$run/lua"
[ -f "$abs_builddir/lua/.libs/vault.so" ] && { cp -L "$abs_builddir/lua/.libs/vault.so" "$run/lua/" || exit 1; }
cp -R "$abs_srcdir/examples" "$run/" || exit 1
cp -R "$abs_srcdir/integrations" "$abs_srcdir/docs" "$run/" || exit 1
# What is installed for those who write a feed, a module or an application: tests build theirs with it, where the build tree cannot be reached.
# shellcheck disable=SC2086 # make may have arguments
MAKEFLAGS='' $MAKE -s -C "$abs_builddir" DESTDIR="$run/installed" \
    install-pkgincludeHEADERS install-pkgconfigDATA install-dist_feedexampleDATA \
    install-nobase_dist_docDATA install-nobase_dist_scriptexampleSCRIPTS >/dev/null || exit 1
[ -f "$run/modules/mod_vault.so" ] || { echo "httpd-tests: there is no .libs/mod_vault.so; run make first"; exit 1; }
[ -f "$abs_builddir/vaultctl/vaultctl" ] && { cp -L "$abs_builddir/vaultctl/vaultctl" "$run/" || exit 1; }
for name in stress stale; do
    [ -f "$abs_builddir/bench/$name" ] && { cp -L "$abs_builddir/bench/$name" "$run/" || exit 1; }
done
[ -f "$abs_builddir/t/unit/unit" ] && { cp -L "$abs_builddir/t/unit/unit" "$run/" || exit 1; }

# The modules of httpd that the tests use, as far as they are there.
for name in mpm_event authn_core authn_file authz_core authz_host authz_user auth_basic unixd log_config version mime dir alias headers \
    include remoteip rewrite reqtimeout socache_shmcb ssl http2 deflate filter setenvif env status cgid lua proxy proxy_http proxy_fcgi; do
    file=$APACHE_LIBEXECDIR/mod_$name.so
    [ -f "$file" ] && echo "LoadModule ${name}_module $file"
done >"$run/t/conf/modules.conf"

# ---------------------------------------------------------------- a certificate for TLS
if command -v openssl >/dev/null 2>&1; then
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext basicConstraints=critical,CA:FALSE \
        -keyout "$run/key.pem" -out "$run/certificate.pem" \
        >/dev/null 2>"$run/openssl.log" || { cat "$run/openssl.log"; exit 1; }
    chmod 644 "$run/key.pem"
fi

# ---------------------------------------------------------------- sanitizers: their library must come first in the process
server=$HTTPD
# Leaks are looked for in the unit tests: httpd frees its pools by ending. The sanitizer's signal stacks do not survive that httpd
# ends a child while its threads run.
case "${SANITIZE:-no}" in
no) ;;
*)
    library=$(ldd "$run/modules/mod_vault.so" | grep -oE '/[^ ]*(libasan|libclang_rt\.asan)[^ ]*' | head -n 1)
    undefined=$(ldd "$run/modules/mod_vault.so" | grep -oE '/[^ ]*(libubsan|libclang_rt\.ubsan)[^ ]*' | head -n 1)
    [ -n "$library$undefined" ] || { echo "httpd-tests: mod_vault.so is not linked with a sanitizer's shared library"; exit 1; }
    server=$run/httpd
    cat >"$server" <<END
#!/bin/sh
LD_PRELOAD="$library $undefined"
ASAN_OPTIONS="detect_leaks=0:use_sigaltstack=0:abort_on_error=1:log_path=$run/t/logs/sanitizer"
UBSAN_OPTIONS="print_stacktrace=1:log_path=$run/t/logs/sanitizer"
export LD_PRELOAD ASAN_OPTIONS UBSAN_OPTIONS
exec "$HTTPD" "\$@"
END
    chmod 755 "$server"
    ;;
esac

# ---------------------------------------------------------------- valgrind: its reports are counted as those of sanitizers are
if [ -n "${VAULT_VALGRIND:-}" ]; then
    SANITIZE=valgrind
    server=$run/httpd
    mkdir -p "$run/valgrind" || exit 1
    cat >"$server" <<END
#!/bin/sh
exec valgrind -q --tool=memcheck --num-callers=30 --log-file="$run/valgrind/report.%p" "$HTTPD" "\$@"
END
    chmod 755 "$server"
fi

# ---------------------------------------------------------------- run
[ -z "$as" ] || chown -R nobody "$run" || exit 1
[ -z "$as" ] || chmod 755 "$run"
cd "$run" || exit 1
# Polls that wait need descriptors.
ulimit -n 8192 2>/dev/null || ulimit -n "$(ulimit -H -n)"
PERL5LIB="$run/t/lib${PERL5LIB:+:$PERL5LIB}"
PERL_TEST_HARNESS_DUMP_TAP=$run/tap
HARNESS_TIMER=1
APACHE_TEST_ULIMIT_SET=1
APACHE_TEST_NO_STICKY_PREFERENCES=1
HOME=$run/home
export PERL5LIB PERL_TEST_HARNESS_DUMP_TAP HARNESS_TIMER APACHE_TEST_ULIMIT_SET APACHE_TEST_NO_STICKY_PREFERENCES HOME
VAULT_SANITIZER=${SANITIZE:-no}
VAULT_HTTPD=$server
export VAULT_SANITIZER VAULT_HTTPD
# Programs that the tests call, as vaultctl, end with what libdbi keeps.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS

# Servers of databases, started by the first test that needs one. Sockets have short paths, hence not below the build.
VAULT_DATABASES=$(mktemp -d "${TMPDIR:-/tmp}/vault-db.XXXXXX") || exit 1
export VAULT_DATABASES
[ -z "$as" ] || chown nobody "$VAULT_DATABASES" || exit 1
stop_databases() {
    $as "$PERL" -MVaultTest::Database -e 'VaultTest::Database::stop_all()'
    rm -rf "$VAULT_DATABASES"
}
trap stop_databases EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# 40 free ports, below those that connections get. Another run that starts now finds the same ports free, so each run holds the lock of
# its own, as long as one of its processes lives.
tries=200
port=
while [ -z "$port" ] && [ "$tries" -gt 0 ]; do
    tries=$((tries - 1))
    port=$("$PERL" -MIO::Socket::INET -e 'my $first = 10_000 + 40 * int rand 550;
        print $first if 40 == grep { IO::Socket::INET->new(Listen => 1, LocalPort => $_) } $first .. $first + 39')
    # The file of another user cannot be opened: a run of that user may hold its lock.
    { [ -n "$port" ] && command exec 7>"${TMPDIR:-/tmp}/vault-ports.$port" && flock -n 7; } 2>/dev/null || port=
done

# shellcheck disable=SC2086 # families are words
$as "$PERL" t/TEST -httpd "$server" -apxs "$APXS" -httpd_conf "$run/t/conf/modules.conf" -top_dir "$run" -t_dir "$run/t" \
    -port "${port:-select}" -startup_timeout "${VAULT_VALGRIND:+1}60" ${VAULT_VERBOSE:+-verbose} ${VAULT_TESTS:-$HTTPD_TEST_FAMILIES}
code=$?

# ---------------------------------------------------------------- count
# The tests of a file that failed; also that it ended before its plan, or without one.
failed_tests() {
    awk '/^(ok|not ok) / {ran++}
        /^not ok / && !/# TODO/ {sub(/^not ok [0-9]+ (- )?/, ""); print "not ok - " FILENAME ": " $0; bad++}
        /^1\.\./ {split($1, plan, /\.\./); planned = plan[2]; skips = /# [Ss][Kk][Ii][Pp]/}
        END {if (!bad && (planned == "" || planned != ran && !skips)) print "not ok - " FILENAME ": it ran " ran + 0 " tests and ended"}' "$1"
}

passed=$(find tap -type f -exec cat {} + | grep -cE '^ok ')
failed=$(find tap -type f -exec cat {} + | grep -E '^not ok ' | grep -cvE '# TODO')
for report in t/logs/sanitizer.* valgrind/report.*; do
    [ -s "$report" ] || continue
    echo "A sanitizer reports ($report):"
    head -n 60 "$report"
    failed=$((failed + 1))
done
[ "$code" = 0 ] || [ "$failed" != 0 ] || failed=1
[ "$passed" != 0 ] || [ "$failed" != 0 ] || failed=1
if [ "$failed" != 0 ]; then
    # A test prints the lines of the error log that it did not expect; where no test ran, httpd did not start.
    [ "$passed" != 0 ] || [ ! -f t/logs/error_log ] || tail -n 40 t/logs/error_log
    if [ -n "$keep" ]; then
        echo "The error log is $keep/logs/error_log."
    else
        echo "The error log is $run/t/logs/error_log."
    fi
    (cd tap && find * -type f | sort) | while IFS= read -r file; do
        (cd tap && failed_tests "$file")
    done
fi
if [ -n "$keep" ]; then
    cp -R "$run/t/logs" "$keep/" 2>/dev/null
    cd / && rm -rf "$run"
fi
echo "# tests: $passed passed, $failed failed"
[ "$failed" = 0 ]
