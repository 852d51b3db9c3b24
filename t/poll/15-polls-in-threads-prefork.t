# SPDX-License-Identifier: Apache-2.0
# The prefork MPM has one thread a child: a poll that waits takes a child.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Threads;

announce(qr/vault:warn\].*VLT00330: with the prefork MPM each poll that waits holds one of 12 processes/);
polls_in_threads('prefork');
my ($sentence) = grep { /prefork/ } @{JSON::PP::decode_json(text_of('/vault/status?check'))->{Warnings}};
like($sentence, qr/holds one of 12 processes: VaultLongPollThreads 2 may wait in all/, 'a check says what that means');
finish();
