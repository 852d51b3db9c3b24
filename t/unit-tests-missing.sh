# SPDX-License-Identifier: Apache-2.0
# Stands in for the unit tests where CUnit was not found: skipped, and said aloud.
echo "UNIT TESTS NOT RUN: configure did not find CUnit (Debian: libcunit1-dev). Install it and run configure again."
exit 77
