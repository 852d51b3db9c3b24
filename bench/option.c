/* SPDX-License-Identifier: Apache-2.0 */
/* Numeric options of the load programs. */
#include "option.h"

#include <stdlib.h>

#include "wire.h"

int option_whole(const char *name, const char *text, int least, int most)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (end == text || *end != '\0' || value < least || value > most) {
        wire_die("--%s %s: a whole number from %d to %d is expected", name, text, least, most);
    }
    return (int)value;
}

double option_number(const char *name, const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value >= least && value <= most)) {
        wire_die("--%s %s: a number from %.10g to %.10g is expected", name, text, least, most);
    }
    return value;
}
