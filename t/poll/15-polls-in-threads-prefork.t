# SPDX-License-Identifier: Apache-2.0
# The prefork MPM has one thread a child: a poll that waits takes a child.
use strict;
use warnings;
use VaultTest;
use VaultTest::Threads;

polls_in_threads('prefork');
finish();
