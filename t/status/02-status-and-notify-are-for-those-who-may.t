# SPDX-License-Identifier: Apache-2.0
# The two handlers obey Require and authentication like any URL, and are nowhere unless configured.
use strict;
use warnings;
use MIME::Base64 qw(encode_base64);
use VaultTest;
use VaultTest::Site;

my %of = map { $_ => {Authorization => 'Basic ' . encode_base64("$_:secret", '')} } qw(anna bert);
my %ask = (
    status => sub { get("/$_[0]/status?auto", headers => $_[1] || {}) },
    notify => sub { post("/$_[0]/notify", 'interest=secret', headers => $_[1] || {}) },
);

my $auth = have_module('auth_basic') && have_module('authn_file') && have_module('authz_user');
for my $what (sort keys %ask) {
    my $before = status()->{Notifies};
    announce(qr{AH01630: client denied by server configuration}) if $what eq 'notify';
    is($ask{$what}->('denied')->{status}, 403, "$what: Require all denied");
    SKIP: {
        skip 'httpd has no basic authentication', 4 unless $auth;
        announce(qr{AH01631: user bert: authorization failure for "/private/$what"});
        is($ask{$what}->('private')->{status}, 401, "$what: without a login");
        is($ask{$what}->('private', $of{bert})->{status}, 401, "$what: the wrong user");
        is(status()->{Notifies}, $before, '... and nothing was notified');
        is($ask{$what}->('private', $of{anna})->{status}, 200, "$what: the right user");
    }
}

# Nothing is there unless SetHandler says so.
site_file('/elsewhere/vault/keep', '');
is(get("/elsewhere/vault/$_")->{status}, 404, "there is no $_ of its own accord") for qw(status notify poll);
is(post('/elsewhere/vault/notify', 'interest=x')->{status}, 404, '... for POST, too');

finish();
