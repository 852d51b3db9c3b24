# SPDX-License-Identifier: Apache-2.0
# The httpd tests of what clients and handlers see: polls, streams, pages, controllers.
VAULT_TESTS=$HTTPD_POLLS
VAULT_RUN=polls
. "$abs_srcdir/t/httpd-tests.sh"
