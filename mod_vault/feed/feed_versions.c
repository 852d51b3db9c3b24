/* SPDX-License-Identifier: Apache-2.0 */
/* Finds build ids in memory and in files, and compares them. */
#include "feed/feed_versions.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "apr_file_io.h"
#include "apr_strings.h"
#include "http_core.h"

#include "feed/feeds.h"
#include "server/log.h"

APLOG_USE_MODULE(vault);

#define RETAINED "mod_vault feeds 1"
/* The headers and notes of an object are at its beginning. */
#define HEAD_MAX 65536
/* Enough to tell two builds apart in a log line. */
#define DIGITS 12

/* The code of a feed at the last start. */
typedef struct version_t {
    const char *name, *path, *text;
} version_t;

/* In the process's pool: it outlives the module's code. */
typedef struct retained_t {
    apr_pool_t *pool;
    apr_array_header_t *versions; /* of version_t */
} retained_t;

/* ------------------------------------------------------------------ build ids */

static const char *hex(const unsigned char *bytes, apr_size_t size, apr_pool_t *pool)
{
    char *text = apr_pstrcat(pool, "build ", NULL);
    apr_size_t i;

    for (i = 0; i < size && i < DIGITS / 2; i++) {
        text = apr_psprintf(pool, "%s%02x", text, bytes[i]);
    }
    return text;
}

static apr_size_t padded(apr_size_t size)
{
    return (size + 3) & ~(apr_size_t)3;
}

/* @param notes  a segment of notes: headers, each with a name and a value
 * @return NULL: it has no build id */
static const char *find_id(const char *notes, apr_size_t size, apr_pool_t *pool)
{
    ElfW(Nhdr) head;

    while (size >= sizeof(head)) {
        const char *name = notes + sizeof(head), *value;
        apr_size_t step;

        memcpy(&head, notes, sizeof(head));
        step = sizeof(head) + padded(head.n_namesz) + padded(head.n_descsz);
        if (step > size) {
            return NULL;
        }
        value = name + padded(head.n_namesz);
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && !memcmp(name, "GNU", 4)) {
            return hex((const unsigned char *)value, head.n_descsz, pool);
        }
        notes += step;
        size -= step;
    }
    return NULL;
}

typedef struct search_t {
    ElfW(Addr) address; /* of a symbol of the object */
    const char *found;
    apr_pool_t *pool;
} search_t;

static int holds(const struct dl_phdr_info *object, ElfW(Addr) address)
{
    int i;

    for (i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && address - object->dlpi_addr - p->p_vaddr < p->p_memsz) {
            return 1;
        }
    }
    return 0;
}

static int look_at_object(struct dl_phdr_info *object, size_t size, void *data)
{
    search_t *s = data;
    int i;

    if (!holds(object, s->address)) {
        return 0;
    }
    for (i = 0; i < object->dlpi_phnum && !s->found; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        if (p->p_type == PT_NOTE) {
            s->found = find_id((const char *)(object->dlpi_addr + p->p_vaddr), p->p_memsz, s->pool);
        }
    }
    return 1;
}

static const char *id_in_memory(const void *symbol, apr_pool_t *pool)
{
    search_t s = {.address = (ElfW(Addr))symbol, .pool = pool};

    dl_iterate_phdr(look_at_object, &s);
    return s.found;
}

/* @param head  the beginning of an object */
static const char *find_id_in(const char *head, apr_size_t size, apr_pool_t *pool)
{
    const char *found = NULL;
    ElfW(Ehdr) elf;
    ElfW(Phdr) p;
    unsigned i;

    if (size < sizeof(elf)) {
        return NULL;
    }
    memcpy(&elf, head, sizeof(elf));
    if (memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_phentsize != sizeof(p)) {
        return NULL;
    }
    for (i = 0; i < elf.e_phnum && !found; i++) {
        if (elf.e_phoff > size || size - elf.e_phoff < (i + 1) * sizeof(p)) {
            return NULL;
        }
        memcpy(&p, head + elf.e_phoff + i * sizeof(p), sizeof(p));
        if (p.p_type == PT_NOTE && p.p_offset <= size && p.p_filesz <= size - p.p_offset) {
            found = find_id(head + p.p_offset, p.p_filesz, pool);
        }
    }
    return found;
}

static const char *id_in_file(const char *path, apr_pool_t *pool)
{
    char *head = apr_palloc(pool, HEAD_MAX);
    apr_size_t size = 0;
    apr_file_t *file;

    if (apr_file_open(&file, path, APR_FOPEN_READ | APR_FOPEN_BINARY, APR_FPROT_OS_DEFAULT, pool) != APR_SUCCESS) {
        return NULL;
    }
    apr_file_read_full(file, head, HEAD_MAX, &size); /* less is no error */
    apr_file_close(file);
    return find_id_in(head, size, pool);
}

/* ------------------------------------------------------------------ comparing */

static const char *time_of(const char *path, apr_pool_t *pool)
{
    char date[APR_RFC822_DATE_LEN];
    apr_finfo_t info;

    if (apr_stat(&info, path, APR_FINFO_MTIME, pool) != APR_SUCCESS ||
        apr_rfc822_date(date, info.mtime) != APR_SUCCESS) {
        return "unknown";
    }
    return apr_pstrcat(pool, "of ", date, NULL);
}

static const version_t *find_version(const retained_t *t, const char *name)
{
    int i;

    for (i = 0; t->versions && i < t->versions->nelts; i++) {
        const version_t *v = &APR_ARRAY_IDX(t->versions, i, version_t);
        if (!strcmp(v->name, name)) {
            return v;
        }
    }
    return NULL;
}

static void compare(const version_t *old, const version_t *now, const char *in_file, server_rec *s)
{
    if (in_file && strcmp(in_file, now->text)) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s,
                     VLTNO(00418) "feed %s: %s has changed (%s), but the code that was loaded before (%s) cannot be "
                                  "unloaded and is still used: stop and start the server",
                     now->name, now->path, in_file, now->text);
    }
    else if (old && strcmp(old->path, now->path)) {
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, s, VLTNO(00419) "feed %s: %s (%s) is used in place of %s (%s)",
                     now->name, now->path, now->text, old->path, old->text);
    }
    else if (old && strcmp(old->text, now->text)) {
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, s, VLTNO(00417) "feed %s: %s has changed: %s before, %s now",
                     now->name, now->path, old->text, now->text);
    }
}

static void look_at_feed(const retained_t *t, const vault_loaded_feed_t *feed, version_t *now, server_rec *s,
                         apr_pool_t *ptemp)
{
    const char *in_memory = id_in_memory(feed->vtable, ptemp);

    now->name = feed->name;
    now->path = feed->path;
    now->text = in_memory ? in_memory : time_of(feed->path, ptemp);
    compare(find_version(t, feed->name), now, in_memory ? id_in_file(feed->path, ptemp) : NULL, s);
}

static void keep(retained_t *t, const apr_array_header_t *versions, apr_pool_t *parent)
{
    int i;

    if (!t->pool) {
        apr_pool_create(&t->pool, parent);
    }
    apr_pool_clear(t->pool);
    t->versions = apr_array_make(t->pool, versions->nelts, sizeof(version_t));
    for (i = 0; i < versions->nelts; i++) {
        const version_t *from = &APR_ARRAY_IDX(versions, i, version_t);
        version_t *to = apr_array_push(t->versions);

        to->name = apr_pstrdup(t->pool, from->name);
        to->path = apr_pstrdup(t->pool, from->path);
        to->text = apr_pstrdup(t->pool, from->text);
    }
}

/* Compares, and remembers what is loaded now. */
static int compare_all(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    retained_t *t = ap_retained_data_get(RETAINED);
    const apr_array_header_t *feeds = vault_feeds_all(ptemp);
    apr_array_header_t *versions = apr_array_make(ptemp, feeds->nelts, sizeof(version_t));
    int i;

    if (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG) {
        return OK;
    }
    if (!t) {
        t = ap_retained_data_create(RETAINED, sizeof(*t));
    }
    for (i = 0; i < feeds->nelts; i++) {
        look_at_feed(t, APR_ARRAY_IDX(feeds, i, const vault_loaded_feed_t *), apr_array_push(versions), s, ptemp);
    }
    keep(t, versions, s->process->pool);
    return OK;
}

void vault_feed_versions_hooks(void)
{
    ap_hook_post_config(compare_all, NULL, NULL, APR_HOOK_MIDDLE);
}
