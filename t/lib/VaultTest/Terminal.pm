# SPDX-License-Identifier: Apache-2.0
# A program in a terminal of its own, and a user who presses keys.
#
#     needs_terminal();
#     my $terminal = VaultTest::Terminal->start(['vaultctl', 'top'], rows => 12);
#     $terminal->read_until(qr/Pages/);      # what was shown up to and with it
#     $terminal->type('q');
#     is($terminal->end, 0, 'why');          # its exit code, or "signal N"; what was shown since: rest()
package VaultTest::Terminal;
use strict;
use warnings;
use Exporter 'import';
use Fcntl qw(O_NOCTTY O_RDWR);
use IO::Select;
use POSIX ();
use VaultTest;

our @EXPORT = qw(needs_terminal);

# Of Linux, as on x86 and ARM; the module that knows them elsewhere (IO::Pty) is no part of Perl.
use constant {TIOCGPTN => 0x80045430, TIOCSPTLCK => 0x40045431, TIOCSWINSZ => 0x5414};

sub needs_terminal
{
    my ($master) = eval { _open() };
    plan(skip_all => 'no terminal can be made here') unless $master;
    return;
}

# The side of who sits before it, and the name of the other.
sub _open
{
    sysopen my $master, '/dev/ptmx', O_RDWR | O_NOCTTY or die "/dev/ptmx: $!\n";
    my $number = pack 'i', 0;
    ioctl $master, TIOCSPTLCK, $number or die "TIOCSPTLCK: $!\n";
    ioctl $master, TIOCGPTN, $number or die "TIOCGPTN: $!\n";
    return ($master, '/dev/pts/' . unpack 'i', $number);
}

sub start
{
    my ($class, $command, %with) = @_;
    my ($master, $path) = _open();
    ioctl $master, TIOCSWINSZ, pack('S4', $with{rows} // 24, 80, 0, 0) or die "TIOCSWINSZ: $!\n";
    # Held open: without a process on the other side what was shown could not be read any more.
    sysopen my $other, $path, O_RDWR | O_NOCTTY or die "$path: $!\n";
    my $pid = fork;
    die "fork: $!\n" unless defined $pid;
    if (!$pid) {
        POSIX::setsid();
        sysopen my $tty, $path, O_RDWR or POSIX::_exit(126);    # the first that it opens is its own
        POSIX::dup2(fileno $tty, $_) for 0 .. 2;
        exec @$command or POSIX::_exit(127);
    }
    return bless {master => $master, other => $other, pid => $pid, shown => ''}, $class;
}

# Take what is shown within so many seconds. False: nothing
sub _take
{
    my ($self, $seconds) = @_;
    return 0 unless IO::Select->new($self->{master})->can_read($seconds);
    return sysread $self->{master}, $self->{shown}, 65536, length $self->{shown};
}

sub read_until
{
    my ($self, $pattern) = @_;
    my $end = time + VaultTest::PATIENCE;
    for (;;) {
        return substr $self->{shown}, 0, $+[0], '' if $self->{shown} =~ $pattern;
        die "the terminal does not show $pattern but: $self->{shown}\n" if time > $end;
        $self->_take(1);
    }
}

# What was shown and not read yet.
sub rest
{
    my ($self) = @_;
    1 while $self->_take(0);
    return $self->{shown};
}

sub type
{
    my ($self, $keys) = @_;
    syswrite $self->{master}, $keys or die "the terminal takes no keys: $!\n";
    return;
}

# How the terminal is set now.
sub _is_set
{
    my ($self, $flag) = @_;
    my $settings = POSIX::Termios->new;
    $settings->getattr(fileno $self->{other}) or die "the terminal's settings: $!\n";
    return ($settings->getlflag & $flag) != 0;
}

sub echoes   { return $_[0]->_is_set(POSIX::ECHO()) }
sub by_lines { return $_[0]->_is_set(POSIX::ICANON()) }

sub is_stopped
{
    my ($self) = @_;
    open my $stat, '<', "/proc/$self->{pid}/stat" or return 0;
    return readline($stat) =~ /\) T /;
}

sub go_on { kill CONT => $_[0]{pid}; return }

# Wait until the program has ended.
sub end
{
    my ($self) = @_;
    wait_until(sub { $self->_take(0); waitpid($self->{pid}, POSIX::WNOHANG()) == $self->{pid} }, 'the program in the terminal ends');
    return $? & 127 ? 'signal ' . ($? & 127) : $? >> 8;
}

1;
