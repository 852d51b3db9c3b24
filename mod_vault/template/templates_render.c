/* SPDX-License-Identifier: Apache-2.0 */
/* Renders a template and its partials: see templates.h. */
#include "template/templates_inside.h"

#include <string.h>

#include "apr_hash.h"
#include "apr_strings.h"

/* One call of vault_templates_render(). */
typedef struct rendering_t {
    vault_templates_t *cache;
    vault_template_file_t *file;
    const char *path;
    apr_hash_t *partials; /* vault_template_file_t by name, each held until the end; NULL before the first */
    const vault_template_sink_t *sink;
    apr_status_t status; /* the first failure of a partial or of `write` */
    const char *error;
    apr_pool_t *scratch;
} rendering_t;

/* Stands for a partial without a file. */
static vault_template_file_t no_file;

static apr_status_t write_cb(void *baton, const char *text, apr_size_t len)
{
    rendering_t *r = baton;
    char reason[200];

    if (r->status == APR_SUCCESS) {
        r->status = r->sink->write(r->sink->baton, text, len);
        if (r->status != APR_SUCCESS) {
            r->error = apr_psprintf(r->scratch, "%s: what it renders cannot be written: %s", r->path,
                                    apr_strerror(r->status, reason, sizeof reason));
        }
    }
    return r->status;
}

/* The path of a partial: the folder and the extension of the template. */
static const char *partial_path(const rendering_t *r, const char *name)
{
    const char *base = strrchr(r->path, '/') + 1, *extension = strrchr(base, '.');

    return apr_pstrcat(r->scratch, apr_pstrmemdup(r->scratch, r->path, (apr_size_t)(base - r->path)), name,
                       extension && extension != base ? extension : "", NULL);
}

static apr_status_t acquire(const rendering_t *r, vault_template_file_t **file, const char *path, const char **error)
{
    if (r->sink->uses) {
        r->sink->uses(r->sink->baton, path);
    }
    return vault_templates_acquire(r->cache, file, path, error, r->scratch);
}

static vault_template_file_t *acquire_partial(rendering_t *r, const char *name)
{
    vault_template_file_t *file = &no_file;
    const char *path, *error;
    apr_status_t status;

    if (name[0] == '.' || strchr(name, '/')) {
        r->status = APR_EINVAL;
        r->error = apr_psprintf(
            r->scratch, "%s: the partial \"%.60s\" is refused: a name must not begin with a dot or contain a slash",
            r->path, name);
        return file;
    }
    path = partial_path(r, name);
    if (!strcmp(path, r->path)) { /* a template that includes itself gets the version being rendered, not a newer one */
        return r->file;
    }
    status = acquire(r, &file, path, &error);
    if (status != APR_SUCCESS && !APR_STATUS_IS_ENOENT(status)) {
        r->status = status;
        r->error = error;
    }
    return file;
}

/* A rendering looks up each partial once, so that all uses of it in the output have the same version. */
static const vault_mustache_t *partial_cb(void *baton, const char *name)
{
    rendering_t *r = baton;
    vault_template_file_t *file;

    if (r->status != APR_SUCCESS) {
        return NULL;
    }
    if (!r->partials) {
        r->partials = apr_hash_make(r->scratch);
    }
    file = apr_hash_get(r->partials, name, APR_HASH_KEY_STRING);
    if (!file) {
        file = acquire_partial(r, name);
        apr_hash_set(r->partials, name, APR_HASH_KEY_STRING, file);
    }
    return file->template;
}

static void release_all(rendering_t *r)
{
    apr_hash_index_t *i;

    for (i = r->partials ? apr_hash_first(r->scratch, r->partials) : NULL; i; i = apr_hash_next(i)) {
        void *file;

        apr_hash_this(i, NULL, NULL, &file);
        if (file != &no_file && file != r->file) {
            vault_templates_release(r->cache, file);
        }
    }
    vault_templates_release(r->cache, r->file);
}

static apr_status_t render(rendering_t *r, const json_t *context)
{
    apr_status_t status = vault_mustache_render(r->file->template, context, partial_cb, r, write_cb, r, r->scratch);

    if (r->status != APR_SUCCESS) {
        return r->status;
    }
    if (status == APR_EGENERAL) {
        r->error = apr_psprintf(r->scratch, "%s: partials are nested deeper than %d; does one include itself?", r->path,
                                VAULT_MUSTACHE_DEPTH_MAX);
    }
    else if (status == APR_TIMEUP) {
        r->error = apr_psprintf(r->scratch, "%s: rendering takes more than %d steps; are there loops in loops?",
                                r->path, VAULT_MUSTACHE_STEPS_MAX);
    }
    else if (status != APR_SUCCESS) {
        r->error = apr_psprintf(r->scratch, "%s: the data cannot be rendered", r->path);
    }
    return status;
}

apr_status_t vault_templates_render(vault_templates_t *cache, const char *path, const json_t *context,
                                    const vault_template_sink_t *sink, const char **error, apr_pool_t *scratch)
{
    rendering_t r = {.cache = cache, .path = path, .sink = sink, .scratch = scratch};
    apr_status_t status;

    *error = NULL;
    if (path[0] != '/') {
        *error = apr_pstrcat(scratch, path, ": not an absolute path", NULL);
        return APR_EBADPATH;
    }
    status = acquire(&r, &r.file, path, error);
    if (status != APR_SUCCESS) {
        return status;
    }
    status = render(&r, context);
    *error = r.error;
    release_all(&r);
    return status;
}
