#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The live log page as a CGI script. LOG in its environment names the file. VaultSameOrigin On, in httpd, refuses forms of other sites.
use strict;
use warnings;

my $FORM_MAX = 65536;
my %html = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;');

# The lines after the place `from`, as HTML, and the place behind them.
sub lines
{
    my ($from) = @_;
    open my $file, '<', $ENV{LOG} or return ('', $from);
    seek $file, $from, 0;
    local $/;
    my $text = (readline $file) // '';
    $text = substr $text, 0, 1 + rindex $text, "\n";    # another process may be writing the last line
    return (join('', map { "<li>" . s/([&<>])/$html{$1}/gr . "</li>\n" } $text =~ /(.*)\n/g), $from + length $text);
}

# What the form says, with its status.
sub add
{
    read STDIN, my ($form), $FORM_MAX;
    my $too_long = 0;
    $too_long = 1 while read STDIN, my ($rest), $FORM_MAX;    # to the end: a browser that is still sending sees no answer
    return print "Status: 413 Content Too Large\n\nthe form is too long\n" if $too_long;
    my ($line) = $form =~ /(?:^|&)line=([^&]+)/ or return print "Status: 400 Bad Request\n\nno line in the form\n";
    $line =~ s/\+/ /g;
    $line =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge;
    $line =~ s/[\r\n]+/ /g;
    open my $file, '>>', $ENV{LOG} or die "$ENV{LOG}: $!\n";    # httpd answers 500
    print $file "$line\n";
    close $file or die "$ENV{LOG}: $!\n";
    return print "Status: 303 See Other\nLocation: ./\nVault-Notify: log\n\n";
}

my $path = $ENV{PATH_INFO} // '/';
print "Content-Type: text/html; charset=utf-8\n";
if ($path eq '/') {
    my ($lines, $place) = lines(0);
    print "Vault-Poll: $ENV{SCRIPT_NAME}/latest\nVault-Property: place=$place\n\n";
    print qq(<!doctype html>\n<html><head><title>Log</title></head>\n<body><ul id="log">\n$lines</ul>\n),
        qq(<form method="post" action="add"><input name="line"><button>Add</button></form></body></html>\n);
}
elsif ($path eq '/latest') {
    my ($lines, $place) = lines($ENV{HTTP_VAULT_PROPERTY_PLACE} // 0);
    print "Vault-Interest: log\nVault-Property: place=$place\n\n";
    print qq(<turbo-stream action="append" target="log"><template>$lines</template></turbo-stream>\n) if $lines;
}
elsif ($path eq '/add' && $ENV{REQUEST_METHOD} eq 'POST') {
    add();
}
else {
    print "Status: 404 Not Found\n\nno such page\n";
}
