# SPDX-License-Identifier: Apache-2.0
# The tests of polls and of suspended requests, under the worker MPM, where polls wait in threads.
use strict;
use warnings;
use VaultTest;
use VaultTest::Family;

run_families('worker');
finish();
