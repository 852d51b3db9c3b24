# SPDX-License-Identifier: Apache-2.0
# What a narrower context does not say comes from the wider one, directive by directive.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

# /view/ has VaultLongPoll On, /view/few/ VaultMaxMethods 2, /view/few/off/ VaultLongPoll Off, /view/few/off/on/ On again.
my $three = join '', map { qq(<!--#vault poll="/test/echo?text=$_" -->\n) } 1 .. 3;
site_file("$_/three.shtml", $three) for qw(/view /view/few /view/few/off /view/few/off/on);

is(VaultTest::Page::text(open_page('/view/three.shtml')->poll), '123', 'the outer context allows three methods');

announce(qr{VLT00040: .*text=3": no more .*/view/few/three\.shtml});
is(VaultTest::Page::text(open_page('/view/few/three.shtml')->poll), '12', 'the inner one two, and is live as the outer one says');

announce(qr{VLT00040: .*text=\d": VaultLongPoll is off here in .*/off/three\.shtml});
unlike(text_of('/view/few/off/three.shtml'), qr/<script/, 'an inner one says Off');

announce(qr{VLT00040: .*text=3": no more .*/off/on/three\.shtml});
is(VaultTest::Page::text(open_page('/view/few/off/on/three.shtml')->poll), '12', 'On again inside, and still two');

# VaultPath names where the browser asks.
site_file('/view/elsewhere/index.shtml', qq(<!--#vault poll="/test/value" -->\n));
like(text_of('/view/elsewhere/'), qr{<script src="/site/live/vault\.js" data-vault-page="\w+" defer></script>}, 'VaultPath is in the script element');
like(text_of('/view/three.shtml'), qr{<script src="/vault/vault\.js" }, 'and there alone');

finish();
