/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file terminal.h
 * The terminal of a live command: keys are read at once and not shown. The terminal is restored when the
 * command ends, however it ends. If input or output is not a terminal, or the command runs in the background,
 * nothing is changed and no key is read.
 */
#ifndef VAULTCTL_TERMINAL_H
#define VAULTCTL_TERMINAL_H

#include "apr_time.h"

void vaultctl_terminal_begin(void);

/** Wait for a key.
 * @return the key; 0: the time is up */
int vaultctl_terminal_wait(apr_interval_time_t time);

void vaultctl_terminal_end(void);

#endif
