/* SPDX-License-Identifier: Apache-2.0 */
/* Finds mod_vault's segment among the mappings of this process by its first bytes (segment.c), without any
 * function of mod_vault. */
#include "damage.h"

#include <stdio.h>
#include <string.h>

#include "apr_strings.h"

#define SEGMENT_MAGIC APR_UINT64_C(0x31544c5541560a1a)
/* APR's header precedes it, and it is aligned. */
#define BEGINS_WITHIN 512

static int is_segment(const char *begin, const char *end)
{
    static const apr_uint64_t magic = SEGMENT_MAGIC;

    if (end - begin > BEGINS_WITHIN) {
        end = begin + BEGINS_WITHIN;
    }
    return memmem(begin, (apr_size_t)(end - begin), &magic, sizeof(magic)) != NULL;
}

/* @return 0: there is none */
static int find_segment(char **begin, char **end)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], rights[5];
    unsigned long from, to;
    int found = 0;

    while (maps && !found && fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3 && !strcmp(rights, "rw-s")) {
            *begin = (char *)from;
            *end = (char *)to;
            found = is_segment(*begin, *end);
        }
    }
    if (maps) {
        fclose(maps);
    }
    return found;
}

int damage_turn(const char *text, long at, unsigned char bits, apr_pool_t *pool)
{
    apr_size_t length = strlen(text) + 2;
    char *word = apr_pcalloc(pool, length), *begin, *end, *place;
    int count = 0;

    memcpy(word + 1, text, length - 2);
    if (!find_segment(&begin, &end)) {
        return -1;
    }
    for (; (place = memmem(begin, (apr_size_t)(end - begin), word, length)); begin = place + 1) {
        place[1 + at] = (char)(place[1 + at] ^ bits);
        count++;
    }
    return count;
}
