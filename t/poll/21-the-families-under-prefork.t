# SPDX-License-Identifier: Apache-2.0
# The tests of polls and of suspended requests, under the prefork MPM, where a child is one thread.
use strict;
use warnings;
use VaultTest;
use VaultTest::Family;

run_families('prefork');
finish();
