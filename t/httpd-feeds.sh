# SPDX-License-Identifier: Apache-2.0
# The httpd tests of feeds, most of which ask each database.
VAULT_TESTS=t/feed
VAULT_RUN=feeds
. "$abs_srcdir/t/httpd-tests.sh"
