/* SPDX-License-Identifier: Apache-2.0 */
/* Which statements a connection keeps prepared: see forms.h. */
#include "sql/forms.h"

#include <stdlib.h>
#include <string.h>

#include "sql/connection.h"

/* Room for a placeholder, in addition to the room that the value took. */
#define PLACEHOLDER_SPACE 24

static sql_statement_t form_of(const sql_statement_t *sql, sql_placeholder_fn placeholder)
{
    const int count = sql->values != NULL ? sql->values->nelts : 0;
    sql_statement_t form = {.driver = sql->driver, .pool = sql->pool, .text = sql->text, .length = sql->length};
    apr_size_t at = 0;

    if (count == 0) {
        return form;
    }
    form.length = 0;
    form.space = sql->length + PLACEHOLDER_SPACE * (apr_size_t)count + 1;
    form.text = apr_palloc(sql->pool, form.space);
    for (int i = 0; i < count; i++) {
        const sql_value_t *value = &APR_ARRAY_IDX(sql->values, i, sql_value_t);

        sql_bytes(&form, sql->text + at, value->begin - at);
        placeholder(&form, sql, i);
        at = value->end;
    }
    sql_bytes(&form, sql->text + at, sql->length - at);
    return form;
}

/* The entry with this text, or the one that was used longest ago. */
static sql_form_t *find(sql_forms_t *forms, const sql_statement_t *text)
{
    sql_form_t *oldest = &forms->at[0];

    for (int i = 0; i < SQL_FORMS; i++) {
        sql_form_t *form = &forms->at[i];

        if (form->text != NULL && form->length == text->length && memcmp(form->text, text->text, text->length) == 0) {
            return form;
        }
        if (form->last_use < oldest->last_use) {
            oldest = form;
        }
    }
    free(oldest->text);
    oldest->text = NULL;
    return oldest;
}

sql_form_t *sql_forms_meet(sql_forms_t *forms, const sql_statement_t *sql, sql_placeholder_fn placeholder)
{
    const sql_statement_t text = form_of(sql, placeholder);
    sql_form_t *form = text.length <= SQL_FORM_MAX ? find(forms, &text) : NULL;

    if (form != NULL && form->text == NULL) {
        form->text = strdup(text.text);
        form->length = text.length;
        form->state = SQL_FORM_MET;
        form->last_use = form->text != NULL ? ++forms->clock : 0;
        return form->text != NULL ? form : NULL;
    }
    if (form != NULL) {
        form->last_use = ++forms->clock;
        form->state = form->state == SQL_FORM_MET ? SQL_FORM_WANTED : form->state;
    }
    return form;
}

void sql_forms_forget(sql_conn_t *conn)
{
    sql_forms_t *forms = conn->prepared;

    for (int i = 0; forms != NULL && i < SQL_FORMS; i++) {
        free(forms->at[i].text);
    }
    free(forms);
    conn->prepared = NULL;
}
