/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file image.h
 * Images of rows, as the change table stores them: JSON objects of cells (feeds/sql/driver.h) by column.
 */
#ifndef LOG_IMAGE_H
#define LOG_IMAGE_H

#include "sql/sql.h"

/** The row that an image describes. @return NULL: it is no image */
json_t *log_image_row(const char *image);

/** Replace the images "old" and "new" of each of `changes` by the rows that they describe.
 * @return APR_SUCCESS; APR_EGENERAL: one cannot be read; the reason is set */
apr_status_t log_image_decode(sql_call_t *c, json_t *changes);

#endif
