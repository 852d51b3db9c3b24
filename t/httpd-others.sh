# SPDX-License-Identifier: Apache-2.0
# The httpd tests of all families that t/httpd-feeds.sh and t/httpd-polls.sh do not run.
VAULT_TESTS=
for family in $HTTPD_TEST_FAMILIES; do
    case " t/feed $HTTPD_POLLS " in
    *" $family "*) ;;
    *) VAULT_TESTS="$VAULT_TESTS $family" ;;
    esac
done
VAULT_RUN=others
. "$abs_srcdir/t/httpd-tests.sh"
