# SPDX-License-Identifier: Apache-2.0
# The httpd tests of all families that t/httpd-feeds.sh has not.
VAULT_TESTS=$(echo "$HTTPD_TEST_FAMILIES" | tr ' ' '\n' | grep -vx t/feed)
VAULT_RUN=others
. "$abs_srcdir/t/httpd-tests.sh"
