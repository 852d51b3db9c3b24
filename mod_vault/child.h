/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file child.h
 * The life of the server's processes: the segment before the first fork, a slot and a waker in each child, and what is done when
 * a child ends, in order or not.
 */
#ifndef VAULT_CHILD_H
#define VAULT_CHILD_H

/** Register the hooks of this file. */
void vault_child_hooks(void);

#endif
