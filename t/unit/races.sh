# SPDX-License-Identifier: Apache-2.0
# The suites of t/unit/unit that Makefile.am names in UNIT_RACES.
# shellcheck disable=SC2086 # suites are words
exec "$abs_builddir/t/unit/unit" $UNIT_RACES
