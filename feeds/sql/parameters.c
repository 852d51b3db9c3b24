/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters that all feeds on a database have. */
#include "sql/sql.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "apr_file_io.h"
#include "apr_lib.h"
#include "apr_strings.h"

#include "sql/driver.h"

#define TIMEOUT_MAX 60
#define CONNECTIONS_MAX 64
#define PORT_MAX 65535
#define ROWS_MAX 100000
#define INIT_BYTES_MAX (1024 * 1024)
#define PATHS_MAX 8000

static const char *given_or_null(const apr_table_t *given, const char *name)
{
    const char *value = apr_table_get(given, name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

static const char *take_number(const sql_number_t *row, const apr_table_t *given, apr_pool_t *pool)
{
    const char *value = apr_table_get(given, row->name);
    apr_int64_t parsed = 0;
    char *end = NULL;

    if (value != NULL && apr_isdigit(value[0])) {
        errno = 0;
        parsed = apr_strtoi64(value, &end, 10);
    }
    if (end == NULL || *end != '\0' || errno != 0 || parsed < row->least || parsed > row->most) {
        return apr_psprintf(pool, "%s=%s: a whole number from %d to %d is accepted", row->name,
                            value != NULL ? value : "", row->least, row->most);
    }
    *row->number = (int)parsed;
    return NULL;
}

const char *sql_parameter_numbers(const sql_number_t *rows, const apr_table_t *given, apr_pool_t *pool)
{
    const char *wrong = NULL;

    for (; wrong == NULL && rows->name != NULL; rows++) {
        wrong = take_number(rows, given, pool);
    }
    return wrong;
}

/* Loads libdbi's driver only to check that it exists: the parent does not keep libdbi over the fork. */
static const char *open_driver(sql_database_t *db, const apr_table_t *given, apr_pool_t *pool)
{
    const char *name = apr_table_get(given, "driver");
    dbi_inst instance = NULL;
    int found;

    db->driver = sql_driver_find(name != NULL ? name : "");
    if (db->driver == NULL) {
        return apr_psprintf(pool, "driver=%s: not supported; there is %s", name != NULL ? name : "",
                            sql_driver_names(pool));
    }
    found = dbi_initialize_r(NULL, &instance) > 0 && dbi_driver_open_r(db->driver->name, instance) != NULL;
    if (instance != NULL) {
        dbi_shutdown_r(instance);
    }
    return found ? NULL
                 : apr_psprintf(pool, "driver=%s: libdbi has no module for it; install it (Debian: %s)",
                                db->driver->name, db->driver->package);
}

/* Does the host have this function? The table of an older server ends before it. */
static const char *absolute(const sql_database_t *db, const char *path, apr_pool_t *pool)
{
    int has_slot = db->host->size >= offsetof(vault_host_t, absolute) + sizeof(db->host->absolute);

    return has_slot && db->host->absolute != NULL ? db->host->absolute(path, pool) : apr_pstrdup(pool, path);
}

static const char *open_file(sql_database_t *db, const char *name, apr_pool_t *pool)
{
    const char *path = name[0] != '\0' && name[strlen(name) - 1] != '/' ? absolute(db, name, pool) : NULL;
    const char *slash;

    if (path == NULL) {
        return apr_psprintf(pool, "database=%s: the path of a database file is needed", name);
    }
    slash = strrchr(path, '/');
    db->database = path;
    db->file = slash != NULL ? slash + 1 : path;
    db->directory = slash == NULL ? "." : slash == path ? "/" : apr_pstrmemdup(pool, path, (apr_size_t)(slash - path));
    return NULL;
}

static const char *open_database(sql_database_t *db, const apr_table_t *given, apr_pool_t *pool)
{
    const char *name = given_or_null(given, "database");

    if (!db->driver->is_server) {
        return open_file(db, name != NULL ? name : "", pool);
    }
    if (name == NULL) {
        return "database=: the name of a database is needed";
    }
    db->database = apr_pstrdup(pool, name);
    return NULL;
}

static apr_status_t read_whole(char **text, const char *path, apr_pool_t *pool)
{
    apr_file_t *file;
    apr_finfo_t info;
    apr_size_t length;
    apr_status_t rv = apr_file_open(&file, path, APR_FOPEN_READ, APR_FPROT_OS_DEFAULT, pool);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = apr_file_info_get(&info, APR_FINFO_SIZE | APR_FINFO_TYPE, file);
    if (rv == APR_SUCCESS && (info.filetype != APR_REG || info.size > INIT_BYTES_MAX)) {
        rv = APR_EINVAL;
    }
    if (rv == APR_SUCCESS) {
        *text = apr_pcalloc(pool, (apr_size_t)info.size + 1);
        rv = info.size > 0 ? apr_file_read_full(file, *text, (apr_size_t)info.size, &length) : APR_SUCCESS;
    }
    if (rv == APR_SUCCESS && strlen(*text) != (apr_size_t)info.size) {
        rv = APR_EINVAL;
    }
    apr_file_close(file);
    return rv;
}

static const char *open_init(sql_database_t *db, const apr_table_t *given, apr_pool_t *pool)
{
    const char *path = apr_table_get(given, "init");
    char reason[120];
    char *script;
    apr_status_t rv;

    if (path == NULL || path[0] == '\0') {
        return NULL;
    }
    rv = read_whole(&script, path, pool);
    if (rv == APR_EINVAL) {
        return apr_psprintf(pool, "init=%s: a text file of SQL of at most %d bytes is accepted", path, INIT_BYTES_MAX);
    }
    if (rv != APR_SUCCESS) {
        return apr_psprintf(pool, "init=%s: the file cannot be read: %s", path,
                            apr_strerror(rv, reason, sizeof(reason)));
    }
    db->init_path = apr_pstrdup(pool, path);
    db->init_sql = script;
    return NULL;
}

/* ------------------------------------------------------------ servers */

/* Sentences are shown on terminals and in logs, so a value is cleaned for them. */
static const char *shown_value(const apr_table_t *given, const char *name)
{
    return strcmp(name, "password") == 0 ? "***" : apr_table_get(given, name);
}

static const char *refuse_for_file(const sql_database_t *db, const apr_table_t *given, apr_pool_t *pool)
{
    static const char *const names[] = {"host", "port", "user", "password", "password-file", "tls-ca"};

    for (apr_size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (given_or_null(given, names[i]) != NULL) {
            return apr_psprintf(pool, "%s=%s: driver=%s does not use it; it is accepted for %s", names[i],
                                shown_value(given, names[i]), db->driver->name, sql_driver_servers(pool));
        }
    }
    return NULL;
}

/* Reads the first line of a file, which others may not be able to read. */
static const char *open_password_file(sql_database_t *db, const char *path, apr_pool_t *pool)
{
    apr_finfo_t info;
    char *password;
    char reason[120];
    apr_status_t rv = apr_stat(&info, path, APR_FINFO_PROT, pool);

    if (rv == APR_SUCCESS && (info.protection & APR_FPROT_WREAD)) {
        return apr_psprintf(pool, "password-file=%s: all users can read it: run chmod o-r", path);
    }
    if (rv == APR_SUCCESS) {
        rv = read_whole(&password, path, pool);
    }
    if (rv == APR_EINVAL) {
        return apr_psprintf(pool, "password-file=%s: a text file with the password in its first line is accepted",
                            path);
    }
    if (rv != APR_SUCCESS) {
        return apr_psprintf(pool, "password-file=%s: the file cannot be read: %s", path,
                            apr_strerror(rv, reason, sizeof(reason)));
    }
    password[strcspn(password, "\r\n")] = '\0';
    if (password[0] == '\0') {
        return apr_psprintf(pool, "password-file=%s: its first line is empty", path);
    }
    db->password = password;
    return NULL;
}

static const char *open_port(sql_database_t *db, const apr_table_t *given, apr_pool_t *pool)
{
    int number;
    const sql_number_t port[] = {{"port", &number, 1, PORT_MAX}, {NULL, NULL, 0, 0}};

    if (given_or_null(given, "port") == NULL) {
        return NULL;
    }
    db->port = apr_pstrdup(pool, apr_table_get(given, "port"));
    return sql_parameter_numbers(port, given, pool);
}

/* Without these checks at the start of httpd, connections would be made without TLS, or no server could be reached. */
static const char *open_tls(sql_database_t *db, const apr_table_t *given, apr_pool_t *pool)
{
    const char *path = given_or_null(given, "tls-ca");
    const char *wrong = NULL;
    char reason[120];
    char *text;
    apr_status_t rv;

    if (path == NULL) {
        return NULL;
    }
    if (db->server == NULL || db->server[0] == '/' ||
        (db->driver->socket_host != NULL && strcmp(db->server, db->driver->socket_host) == 0)) {
        return apr_psprintf(pool, "tls-ca=%s: it is accepted with a host=NAME that is reached by TCP", path);
    }
    if (strpbrk(path, ";'") != NULL || strpbrk(db->server, ";'") != NULL ||
        strlen(path) + strlen(db->server) > PATHS_MAX) {
        return apr_psprintf(pool, "tls-ca=%s: a path (and a host) without semicolons and quotes is accepted", path);
    }
    rv = read_whole(&text, path, pool);
    if (rv != APR_SUCCESS && rv != APR_EINVAL) {
        return apr_psprintf(pool, "tls-ca=%s: the file cannot be read: %s", path,
                            apr_strerror(rv, reason, sizeof(reason)));
    }
    if (rv == APR_EINVAL || strstr(text, "-----BEGIN CERTIFICATE-----") == NULL) {
        wrong = apr_psprintf(pool, "tls-ca=%s: a file with a certificate (PEM) is accepted", path);
    }
    db->tls_ca = apr_pstrdup(pool, path);
    return wrong;
}

static const char *open_server(sql_database_t *db, const apr_table_t *given, apr_pool_t *pool)
{
    const char *path = given_or_null(given, "password-file");
    const char *wrong;

    if (!db->driver->is_server) {
        return refuse_for_file(db, given, pool);
    }
    db->server = apr_pstrdup(pool, given_or_null(given, "host"));
    db->user = apr_pstrdup(pool, given_or_null(given, "user"));
    db->password = apr_pstrdup(pool, given_or_null(given, "password"));
    wrong = open_port(db, given, pool);
    if (wrong == NULL) {
        wrong = open_tls(db, given, pool);
    }
    if (wrong != NULL || path == NULL) {
        return wrong;
    }
    return db->password != NULL
               ? apr_psprintf(pool, "password-file=%s: there is a password as well; one of them is accepted", path)
               : open_password_file(db, path, pool);
}

const char *sql_database_open(sql_database_t *db, const vault_host_t *host, const apr_table_t *given, apr_pool_t *pool)
{
    const sql_number_t numbers[] = {{"timeout", &db->timeout, 1, TIMEOUT_MAX},
                                    {"connections", &db->connections, 1, CONNECTIONS_MAX},
                                    {"rows", &db->rows, 1, ROWS_MAX},
                                    {NULL, NULL, 0, 0}};
    const char *wrong;

    db->host = host;
    db->sights = db->own_sights;
    wrong = open_driver(db, given, pool);
    if (wrong == NULL) {
        wrong = open_database(db, given, pool);
    }
    if (wrong == NULL) {
        wrong = open_server(db, given, pool);
    }
    if (wrong == NULL) {
        wrong = sql_parameter_numbers(numbers, given, pool);
    }
    return wrong != NULL ? wrong : open_init(db, given, pool);
}
