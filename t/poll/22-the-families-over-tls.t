# SPDX-License-Identifier: Apache-2.0
# The tests of polls and of suspended requests, over TLS.
use strict;
use warnings;
use VaultTest;
use VaultTest::Family;

run_families('tls');
finish();
