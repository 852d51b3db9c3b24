# SPDX-License-Identifier: Apache-2.0
# The worker MPM cannot wait for us: polls wait in threads, no more of them than VaultLongPollThreads.
use strict;
use warnings;
use VaultTest;
use VaultTest::Threads;

polls_in_threads('worker');
finish();
