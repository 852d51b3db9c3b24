/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fuzz.h
 * Shared by the fuzz targets. feed() gets each input in memory of its own, so that reading beyond its end is
 * detected, and a pool. A violated invariant calls abort().
 *
 * With clang, -DFUZZER and -fsanitize=fuzzer, libFuzzer generates the inputs (`make fuzz`). Otherwise the
 * program feeds each file that is named.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apr_general.h"

/** Defined by the target. @param text  followed by a NUL that is not counted; may contain others */
static void feed(const char *text, apr_size_t length, apr_pool_t *pool);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static inline void must(int is_so)
{
    if (!is_so) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static int ready;
    apr_pool_t *pool;
    char *text;

    if (!ready) {
        ready = apr_initialize() == APR_SUCCESS;
    }
    if (apr_pool_create_unmanaged_ex(&pool, NULL, NULL) != APR_SUCCESS) {
        return 0;
    }
    text = malloc(size + 1);
    if (text != NULL) {
        memcpy(text, data, size);
        text[size] = '\0';
        feed(text, size, pool);
    }
    free(text);
    apr_pool_destroy(pool);
    return 0;
}

#ifndef FUZZER

static int feed_file(const char *path)
{
    static unsigned char data[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t size;

    if (file == NULL) {
        perror(path);
        return 0;
    }
    size = fread(data, 1, sizeof(data), file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    return 1;
}

int main(int argc, char **argv)
{
    int fed = 0;

    for (int i = 1; i < argc; i++) {
        fed += feed_file(argv[i]);
    }
    printf("%d inputs\n", fed);
    return fed == 0 || fed != argc - 1;
}

#endif

#endif
