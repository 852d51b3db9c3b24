/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the template, renders the data, and wraps the result for the browser if a method of a poll is running. */
#include "feed/render.h"

#include "apr_lib.h"
#include "apr_strings.h"

#include "feed/feedcall.h"
#include "session/session_request.h"
#include "template/templates.h"
#include "view/context.h"
#include "view/recorded.h"

static vault_templates_t *templates;

void vault_render_start(apr_pool_t *pchild)
{
    vault_templates_create(&templates, pchild);
}

int vault_render_is_action(const char *name)
{
    static const char *const actions[] = {"append", "prepend", "replace", "update", "before", "after"};
    unsigned i;

    for (i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (!strcmp(name, actions[i])) {
            return 1;
        }
    }
    return 0;
}

/* ------------------------------------------------------------------------ htmx */

/* The name of the action in htmx. There is none for replace, which would leave the wrapper in the page. */
static const char *swap_of(const char *action)
{
    static const char *const swaps[][2] = {{"append", "beforeend"},
                                           {"prepend", "afterbegin"},
                                           {"update", "innerHTML"},
                                           {"before", "beforebegin"},
                                           {"after", "afterend"}};
    unsigned i;

    for (i = 0; i < sizeof(swaps) / sizeof(swaps[0]); i++) {
        if (!strcmp(action, swaps[i][0])) {
            return swaps[i][1];
        }
    }
    return NULL;
}

/* The element to wrap the content in, by the content's first tag: an HTML parser drops parts of a table inside
 * of a div. */
static const char *wrapper_of(const char *html)
{
    static const char *const wrappers[][2] = {{"tr", "tbody"},      {"td", "tr"},         {"th", "tr"},
                                              {"tbody", "table"},   {"thead", "table"},   {"tfoot", "table"},
                                              {"caption", "table"}, {"colgroup", "table"}};
    apr_size_t length;
    unsigned i;

    html += strspn(html, " \t\r\n\f");
    length = *html == '<' ? strcspn(html + 1, " \t\r\n\f/>") : 0;
    for (i = 0; length && i < sizeof(wrappers) / sizeof(wrappers[0]); i++) {
        if (strlen(wrappers[i][0]) == length && !ap_cstr_casecmpn(html + 1, wrappers[i][0], length)) {
            return wrappers[i][1];
        }
    }
    return "div";
}

/* Escapes an id as a CSS selector. Colons are escaped as well, since htmx uses them for itself. */
static const char *escape_id(const char *id, apr_pool_t *pool)
{
    char *text = apr_palloc(pool, strlen(id) * 4 + 1), *out = text;

    for (; *id; id++) {
        int plain = apr_isalpha(*id) || *id == '_' || *id & 0x80 || (out > text && (apr_isdigit(*id) || *id == '-'));
        out += plain ? (*out = *id, 1) : apr_snprintf(out, 5, "\\%x ", (unsigned char)*id);
    }
    *out = '\0';
    return text;
}

/* --------------------------------------------------------------------- what is right */

static const char *find_wrong_format(const vault_render_t *what, apr_pool_t *pool)
{
    if (!what->format) {
        return NULL;
    }
    if (strcmp(what->format, "htmx")) {
        return apr_psprintf(pool, "there is no format \"%.60s\": htmx is accepted, or none for turbo-stream elements",
                            what->format);
    }
    if (what->action && !swap_of(what->action)) {
        return "replace does not go with the format htmx: leave it out, and write hx-swap-oob=\"true\" into the "
               "template";
    }
    return NULL;
}

/* @return NULL, or a sentence that says what is wrong with the arguments */
static const char *find_wrong(const vault_render_t *what, apr_pool_t *pool)
{
    if (!what->file || !what->file[0]) {
        return "the name of a template is missing";
    }
    if (what->action && !vault_render_is_action(what->action)) {
        return apr_psprintf(pool,
                            "there is no action \"%.60s\": append, prepend, replace, update, before or after is needed",
                            what->action);
    }
    if (what->action && (!what->target || !what->target[0])) {
        return apr_psprintf(pool, "%s: the id of the element in the page is missing", what->action);
    }
    if (what->data && !json_is_array(what->data) && !json_is_object(what->data)) {
        return "a template needs a list of rows, or an object";
    }
    return find_wrong_format(what, pool);
}

static const char *template_path(const request_rec *r, const char *file, apr_pool_t *pool)
{
    char *path = NULL;

    if (!r->filename || apr_filepath_merge(&path, ap_make_dirstr_parent(pool, r->filename), file,
                                           APR_FILEPATH_SECUREROOT, pool) != APR_SUCCESS) {
        return NULL;
    }
    return path;
}

/* No data makes no element, except that a list that is shown as a whole may have become empty. */
static int is_silent(const vault_render_t *what)
{
    int whole = what->action && (!strcmp(what->action, "replace") || !strcmp(what->action, "update"));

    return !what->data || (json_is_array(what->data) && !json_array_size(what->data) && !whole);
}

/* If the rows are a first view again, they replace what was added before. */
static const char *action_of(request_rec *r, const vault_render_t *what)
{
    int adds = what->action && (!strcmp(what->action, "append") || !strcmp(what->action, "prepend"));

    return adds && (what->anew || vault_feedcall_is_reset(r, what->data)) ? "update" : what->action;
}

static json_t *session_json(const apr_array_header_t *properties)
{
    json_t *session = json_object();
    int i;

    for (i = 0; i < properties->nelts; i++) {
        const vault_property_t *p = &APR_ARRAY_IDX(properties, i, vault_property_t);
        json_object_set_new(session, p->key, json_string(p->value));
    }
    return session;
}

/* The template sees a list as `rows`, an object by the names of its members, and session properties as `session`. A
 * member of that name comes first. */
static json_t *make_context(request_rec *r, const vault_render_t *what)
{
    const apr_array_header_t *properties = vault_session_request_properties(r);
    json_t *context = !what->data                  ? json_pack("{s:[]}", "rows")
                      : json_is_object(what->data) ? json_incref((json_t *)what->data)
                                                   : json_pack("{s:O}", "rows", what->data);

    if (properties && !json_object_get(context, "session")) {
        if (context == what->data) {
            json_decref(context);
            context = json_copy((json_t *)what->data);
        }
        json_object_set_new(context, "session", session_json(properties));
    }
    return context;
}

static void write_text(apr_bucket_brigade *bb, const char *text)
{
    apr_brigade_write(bb, NULL, NULL, text, strlen(text));
}

typedef struct sink_t {
    apr_bucket_brigade *out;
    request_rec *r;
} sink_t;

static apr_status_t write_cb(void *baton, const char *text, apr_size_t len)
{
    return apr_brigade_write(((sink_t *)baton)->out, NULL, NULL, text, len);
}

static void uses_cb(void *baton, const char *path)
{
    vault_recording_path(vault_recorded(((sink_t *)baton)->r), path);
}

static apr_status_t render_file(apr_bucket_brigade *out, request_rec *r, const char *path, const vault_render_t *what,
                                const char **error, apr_pool_t *pool)
{
    sink_t to = {out, r};
    const vault_template_sink_t sink = {.write = write_cb, .uses = uses_cb, .baton = &to};
    apr_status_t rv = vault_templates_render(templates, path, what->data, &sink, error, pool);

    if (rv != APR_SUCCESS && !*error) {
        *error = apr_psprintf(pool, "%s: it cannot be rendered", path);
    }
    return rv;
}

static apr_status_t render_stream(apr_bucket_brigade *out, request_rec *r, const char *path, const vault_render_t *what,
                                  const char **error, apr_pool_t *pool)
{
    apr_status_t rv;

    write_text(out, apr_psprintf(pool, "<turbo-stream action=\"%s\" target=\"%s\"><template>", what->action,
                                 ap_escape_html(pool, what->target)));
    rv = render_file(out, r, path, what, error, pool);
    write_text(out, "</template></turbo-stream>");
    return rv;
}

static apr_status_t render_swap(apr_bucket_brigade *out, request_rec *r, const char *path, const vault_render_t *what,
                                const char **error, apr_pool_t *pool)
{
    apr_bucket_brigade *content = apr_brigade_create(out->p, out->bucket_alloc);
    apr_status_t rv = render_file(content, r, path, what, error, pool);
    const char *wrapper, *selector = escape_id(what->target, pool);
    char begin[64];
    apr_size_t length = sizeof(begin) - 1;

    apr_brigade_flatten(content, begin, &length);
    begin[length] = '\0';
    wrapper = wrapper_of(begin);
    write_text(out, apr_psprintf(pool, "<%s hx-swap-oob=\"%s:#%s\">", wrapper, swap_of(what->action),
                                 ap_escape_html(pool, selector)));
    APR_BRIGADE_CONCAT(out, content);
    write_text(out, apr_psprintf(pool, "</%s>", wrapper));
    return rv;
}

/* The output of a method, for the browser. */
static apr_status_t render_update(apr_bucket_brigade *out, request_rec *r, const char *path, const vault_render_t *what,
                                  const char **error, apr_pool_t *pool)
{
    return !what->action  ? render_file(out, r, path, what, error, pool)
           : what->format ? render_swap(out, r, path, what, error, pool)
                          : render_stream(out, r, path, what, error, pool);
}

/* All updates of a method have the same format. @return 1: it is this one */
static int is_format(vault_context_t *x, const vault_render_t *what)
{
    const char *format = what->format ? what->format : "";

    if (x->rendered && strcmp(x->rendered, format)) {
        return 0;
    }
    x->rendered = *format ? "htmx" : "";
    x->format = *format ? "htmx" : x->format;
    return 1;
}

apr_status_t vault_render_to(apr_bucket_brigade *out, request_rec *r, const vault_render_t *what, const char **error,
                             apr_pool_t *pool)
{
    vault_context_t *x = vault_context_get(r);
    int in_method = x && x->in_method;
    vault_render_t wish = *what;
    apr_bucket_brigade *bb;
    const char *path;
    json_t *context;
    apr_status_t rv;

    if ((*error = find_wrong(what, pool))) {
        return APR_EINVAL;
    }
    if (!(path = template_path(r, what->file, pool))) {
        *error = apr_psprintf(pool, "template \"%s\": a file beside or below the page is needed", what->file);
        return APR_EINVAL;
    }
    wish.action = in_method ? action_of(r, what) : NULL;
    if (in_method && is_silent(&wish)) {
        return APR_SUCCESS;
    }
    if (in_method && !is_format(x, what)) {
        *error = "turbo-stream elements and the format htmx do not go together in one method";
        return APR_EINVAL;
    }
    wish.data = context = make_context(r, what);
    bb = apr_brigade_create(out->p, out->bucket_alloc);
    rv = (in_method ? render_update : render_file)(bb, r, path, &wish, error, pool);
    if (rv == APR_SUCCESS) {
        APR_BRIGADE_CONCAT(out, bb);
    }
    apr_brigade_destroy(bb);
    json_decref(context);
    return rv;
}
