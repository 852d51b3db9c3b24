/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file hex.h
 * Hexadecimal digits.
 */
#ifndef VAULT_HEX_H
#define VAULT_HEX_H

/** The value of a hexadecimal digit, a capital or a small letter; -1: it is none. */
static inline int vault_hex_value(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : -1;
}

#endif
