# SPDX-License-Identifier: Apache-2.0
# The tests of polls and of suspended requests, over HTTP/2, where a stream waits in a thread.
use strict;
use warnings;
use VaultTest;
use VaultTest::Family;

run_families('h2');
finish();
