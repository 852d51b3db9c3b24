/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file terminal.h
 * The terminal of a command that is live: keys come at once and are not shown, and it is as it was when the command has ended, however
 * it ends. Where input or output is no terminal, or the command is in the background, nothing is changed, and no key comes.
 */
#ifndef VAULTCTL_TERMINAL_H
#define VAULTCTL_TERMINAL_H

#include "apr_time.h"

void vaultctl_terminal_begin(void);

/** Wait for a key.
 * @return the key; 0: time is up */
int vaultctl_terminal_wait(apr_interval_time_t time);

void vaultctl_terminal_end(void);

#endif
