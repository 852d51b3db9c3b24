/* SPDX-License-Identifier: Apache-2.0 */
/* status and top: print the metrics of the server and of its feeds, without knowing their names. Two metrics
 * that belong together (Pages and PagesMax) share a line; in the live form counters have a rate.
 */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "apr_strings.h"
#include "apr_time.h"

#include "http.h"
#include "output.h"
#include "terminal.h"

#define CLEAR "\033[H\033[2J"
#define ROWS_MAX 1000000

/* A metric and its maximum, which share a line. */
static const struct {
    const char *name, *most, *label;
} rooms[] = {
    {"Pages", "PagesMax", "Pages"},
    {"Sessions", "SessionsMax", "Sessions"},
    {"Interests", "InterestsMax", "Interests"},
    {"HeapUsed", "HeapSize", "Bytes of states"},
    {"QosPasses", "QosPassesMax", "Qos passes"},
    {"Outputs", "OutputsMax", "Outputs"},
    {"OutputMemory", "OutputMemoryMax", "Bytes of outputs"},
    {"OutputFiles", "OutputFilesMax", "Bytes in files"},
};
#define ROOMS (sizeof(rooms) / sizeof(rooms[0]))

typedef struct screen_t {
    const json_t *now, *before; /* before: NULL the first time */
    double seconds;             /* between `before` and `now` */
    int rows;                   /* how many rows may still be printed */
    int skip_zero;              /* 1: omit metrics that are zero */
} screen_t;

static json_int_t number(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

static int is_of_room(const char *name)
{
    for (size_t i = 0; i < ROOMS; i++) {
        if (strcmp(name, rooms[i].name) == 0 || strcmp(name, rooms[i].most) == 0) {
            return 1;
        }
    }
    return 0;
}

static int may_print(screen_t *s)
{
    return s->rows-- > 0;
}

/* ------------------------------------------------------------------- figures */

static void print_rooms(screen_t *s)
{
    for (size_t i = 0; i < ROOMS; i++) {
        json_int_t used = number(s->now, rooms[i].name), most = number(s->now, rooms[i].most);

        if (may_print(s)) {
            vaultctl_print("%-18s %12" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " (%.0f %%)\n", rooms[i].label,
                           used, most, most ? 100.0 * (double)used / (double)most : 0.0);
        }
    }
}

static void print_figure(screen_t *s, const char *name)
{
    json_int_t value = number(s->now, name);

    if ((s->skip_zero && value == 0) || !may_print(s)) {
        return;
    }
    if (s->before == NULL || value < number(s->before, name) || value == number(s->before, name)) {
        vaultctl_print("%-18s %12" JSON_INTEGER_FORMAT "\n", name, value);
    }
    else {
        vaultctl_print("%-18s %12" JSON_INTEGER_FORMAT " %11.1f/s\n", name, value,
                       ((double)value - (double)number(s->before, name)) / s->seconds);
    }
}

static void print_figures(screen_t *s)
{
    const char *name;
    const json_t *value;

    print_rooms(s);
    json_object_foreach((json_t *)s->now, name, value)
    {
        if (json_is_integer(value) && !is_of_room(name)) {
            print_figure(s, name);
        }
    }
}

/* ------------------------------------------------------------------ children */

static const char *const of_children[] = {"Waiting", "WaitingInThreads", "Polls",  "Answers",
                                          "Runs",    "Failures",         "WakeUps"};
#define OF_CHILDREN (sizeof(of_children) / sizeof(of_children[0]))

static void print_children(screen_t *s)
{
    const json_t *children = json_object_get(s->now, "Children"), *child;
    size_t i;

    if (s->rows < 3) {
        return;
    }
    s->rows -= 2;
    putchar('\n');
    vaultctl_print("%-5s %8s", "Slot", "Pid");
    for (size_t k = 0; k < OF_CHILDREN; k++) {
        vaultctl_print(" %*s", (int)strlen(of_children[k]) < 9 ? 9 : (int)strlen(of_children[k]), of_children[k]);
    }
    putchar('\n');
    json_array_foreach(children, i, child)
    {
        if (!may_print(s)) {
            break;
        }
        vaultctl_print("%-5" JSON_INTEGER_FORMAT " %8" JSON_INTEGER_FORMAT, number(child, "Slot"),
                       number(child, "Pid"));
        for (size_t k = 0; k < OF_CHILDREN; k++) {
            vaultctl_print(" %*" JSON_INTEGER_FORMAT, (int)strlen(of_children[k]) < 9 ? 9 : (int)strlen(of_children[k]),
                           number(child, of_children[k]));
        }
        putchar('\n');
    }
}

/* ----------------------------------------------------------------- locations */

static const char *const of_locations[] = {"Limit",   "PerClient", "Running", "Queued",   "Admitted",
                                           "Refused", "TimedOut",  "Gone",    "Displaced"};
#define OF_LOCATIONS (sizeof(of_locations) / sizeof(of_locations[0]))

/* The locations with VaultQosLimit. */
static void print_locations(screen_t *s)
{
    const json_t *locations = json_object_get(s->now, "Qos"), *location;
    size_t i;

    if (!json_array_size(locations) || s->rows < 3) {
        return;
    }
    s->rows -= 2;
    putchar('\n');
    for (size_t k = 0; k < OF_LOCATIONS; k++) {
        vaultctl_print("%9s ", of_locations[k]);
    }
    vaultctl_print("VaultQosLimit\n");
    json_array_foreach(locations, i, location)
    {
        if (!may_print(s)) {
            break;
        }
        for (size_t k = 0; k < OF_LOCATIONS; k++) {
            vaultctl_print("%9" JSON_INTEGER_FORMAT " ", number(location, of_locations[k]));
        }
        vaultctl_print("%s\n", vaultctl_json_text(json_object_get(location, "Location")));
    }
}

/* ------------------------------------------------------------------ personal */

/* Why outputs were not shared, without the reasons that never occurred. */
static void print_personal(screen_t *s)
{
    const char *reason;
    const json_t *count;
    int lines = 0;

    json_object_foreach(json_object_get(s->now, "Personal"), reason, count)
    {
        if (json_integer_value(count) == 0 || s->rows < 3) {
            continue;
        }
        if (lines++ == 0) {
            s->rows -= 2;
            putchar('\n');
            vaultctl_print("Personal outputs, by reason\n");
        }
        s->rows--;
        vaultctl_print("%-18s %12" JSON_INTEGER_FORMAT "\n", reason, json_integer_value(count));
    }
}

/* --------------------------------------------------------------------- feeds */

/* The same feed in the previous status; NULL: it was not there. */
static const json_t *feed_before(const screen_t *s, const json_t *name)
{
    const json_t *feed;
    size_t i;

    json_array_foreach(json_object_get(s->before, "Feeds"), i, feed)
    {
        if (json_equal(json_object_get(feed, "Name"), name)) {
            return feed;
        }
    }
    return NULL;
}

/* Prints the metrics of a feed, whatever their names. */
static void print_feed(screen_t *s, const json_t *feed)
{
    const json_t *name = json_object_get(feed, "Name"), *value;
    screen_t of = {.now = feed, .before = feed_before(s, name), .seconds = s->seconds, .skip_zero = s->skip_zero};
    const char *figure;

    s->rows -= 2;
    putchar('\n');
    vaultctl_print("Feed %s (%s)\n", vaultctl_json_text(name), vaultctl_json_text(json_object_get(feed, "Kind")));
    json_object_foreach((json_t *)feed, figure, value)
    {
        of.rows = s->rows;
        if (json_is_integer(value)) {
            print_figure(&of, figure);
        }
        else if (json_is_string(value) && strcmp(figure, "Name") != 0 && strcmp(figure, "Kind") != 0 &&
                 may_print(&of)) {
            vaultctl_print("%-18s %s\n", figure, json_string_value(value));
        }
        s->rows = of.rows;
    }
}

static void print_feeds(screen_t *s)
{
    const json_t *feed;
    size_t i;

    json_array_foreach(json_object_get(s->now, "Feeds"), i, feed)
    {
        if (s->rows >= 3) {
            print_feed(s, feed);
        }
    }
}

/* --------------------------------------------------------------------- live */

/* The number of lines of the terminal; unlimited if the output is not a terminal. */
static int rows_of_output(void)
{
    struct winsize size;

    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 4 ? size.ws_row - 1
                                                                                                    : ROWS_MAX;
}

static void draw(const vaultctl_options_t *options, const json_t *now, const json_t *before, apr_time_t since)
{
    screen_t s = {.now = now, .before = before, .rows = rows_of_output(), .skip_zero = isatty(STDOUT_FILENO)};
    char time[32];
    apr_time_exp_t t;
    apr_size_t length;

    s.seconds = since > 0 ? (double)since / APR_USEC_PER_SEC : 1;
    apr_time_exp_lt(&t, apr_time_now());
    apr_strftime(time, &length, sizeof(time), "%H:%M:%S", &t);
    if (isatty(STDOUT_FILENO)) {
        fputs(CLEAR, stdout);
    }
    s.rows -= 2;
    vaultctl_print("mod_vault at %s  %s\n", options->url, time);
    putchar('\n');
    print_figures(&s);
    print_children(&s);
    print_feeds(&s);
    if (!isatty(STDOUT_FILENO)) {
        putchar('\n');
    }
    fflush(stdout);
}

/* Waits for the next update, for a key or for the end of the time. @return 0: `q` was pressed */
static int goes_on(const vaultctl_options_t *options)
{
    int key = vaultctl_terminal_wait(apr_time_from_sec(options->delay ? options->delay : 1));

    return key != 'q' && key != 'Q';
}

static int look_on(const vaultctl_options_t *options, vaultctl_http_t *http, apr_pool_t *pool)
{
    json_t *now, *before = NULL;
    apr_time_t at, last = 0;
    apr_pool_t *turn;
    int status = VAULTCTL_DONE, n;

    apr_pool_create(&turn, pool);
    for (n = 0; options->count == 0 || n < options->count; n++) {
        if (n && !goes_on(options)) {
            break;
        }
        apr_pool_clear(turn);
        at = apr_time_now();
        status = vaultctl_http_json(http, &now, "status?json", NULL, turn);
        if (status != VAULTCTL_DONE || ferror(stdout)) {
            break;
        }
        draw(options, now, before, at - last);
        json_decref(before);
        before = now;
        last = at;
    }
    json_decref(before);
    return status;
}

int vaultctl_top(const vaultctl_options_t *options, char *const *words, int count, apr_pool_t *pool)
{
    vaultctl_http_t *http;
    int status;

    if (count > 0) {
        return vaultctl_say(VAULTCTL_USAGE, "%s: top takes no word", words[0]);
    }
    http = vaultctl_http_open(options, pool); /* may ask for a password */
    if (http == NULL) {
        return VAULTCTL_TROUBLE;
    }
    vaultctl_terminal_begin();
    status = look_on(options, http, pool);
    vaultctl_terminal_end();
    return status;
}

/* -------------------------------------------------------------------- status */

int vaultctl_status(const vaultctl_options_t *options, char *const *words, int count, apr_pool_t *pool)
{
    vaultctl_http_t *http;
    screen_t s = {.rows = ROWS_MAX};
    json_t *now;
    int status;

    if (count > 0) {
        return vaultctl_say(VAULTCTL_USAGE, "%s: status takes no word", words[0]);
    }
    if (options->top && options->cluster) {
        return vaultctl_say(VAULTCTL_USAGE, "--top and --cluster exclude each other");
    }
    if (options->cluster) {
        return vaultctl_cluster(options, words, count, pool);
    }
    if (options->top) {
        return vaultctl_top(options, words, count, pool);
    }
    http = vaultctl_http_open(options, pool);
    status = http != NULL ? vaultctl_http_json(http, &now, "status?json", NULL, pool) : VAULTCTL_TROUBLE;
    if (status != VAULTCTL_DONE) {
        return status;
    }
    if (options->json) {
        vaultctl_print_json(now, JSON_INDENT(2));
    }
    else {
        s.now = now;
        print_figures(&s);
        print_locations(&s);
        print_personal(&s);
        print_children(&s);
        print_feeds(&s);
    }
    json_decref(now);
    return VAULTCTL_DONE;
}
