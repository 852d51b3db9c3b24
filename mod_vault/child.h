/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file child.h
 * The life cycle of the server's processes: the segment before the first fork, a slot and a waker in each
 * child, and the cleanup after a child that ended or was killed.
 */
#ifndef VAULT_CHILD_H
#define VAULT_CHILD_H

/** Register the hooks of this file. */
void vault_child_hooks(void);

#endif
