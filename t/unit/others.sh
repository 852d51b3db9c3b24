# SPDX-License-Identifier: Apache-2.0
# The suites of t/unit/unit that t/unit/races.sh does not run.
# shellcheck disable=SC2086 # suites are words
exec "$abs_builddir/t/unit/unit" --without $UNIT_RACES
