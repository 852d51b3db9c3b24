/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file image.h
 * Images of rows, as the change table keeps them: JSON objects of cells (feeds/sql/driver.h) by column.
 */
#ifndef LOG_IMAGE_H
#define LOG_IMAGE_H

#include "sql/sql.h"

/** The row that an image shows. @return NULL: it is none */
json_t *log_image_row(const char *image);

/** Replace "old" and "new" of each of `changes`, images, by the rows that they show.
 * @return APR_SUCCESS; APR_EGENERAL: one cannot be read; a sentence was given */
apr_status_t log_image_decode(sql_call_t *c, json_t *changes);

#endif
