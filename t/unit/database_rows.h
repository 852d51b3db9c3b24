/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file database_rows.h
 * The rows of database_test.c: calls on the fixture, one after the other, and values that somebody might try.
 *
 * `expected`: the whole answer when it begins with "[", else a part of the answer or of "STATUS: sentence".
 */
#ifndef DATABASE_ROWS_FOR_TEST_H
#define DATABASE_ROWS_FOR_TEST_H

static const struct {
    const char *method, *args, *expected, *why;
} call_rows[] = {
    /* what is read */
    {"all", "{\"table\":\"logs\"}",
     "[{\"id\":1,\"line\":\"one\",\"status\":200,\"took\":0.5},{\"id\":2,\"line\":\"two\",\"status\":404,\"took\":null}"
     ","
     "{\"id\":3,\"line\":\"three\",\"status\":200,\"took\":2.0}]",
     "integers, reals, texts and NULL keep their types"},
    {"all", "{\"table\":\"kinds\",\"limit\":1}",
     "[{\"id\":1,\"i\":9223372036854775807,\"r\":0.10000000000000001,\"t\":\"é\",\"b\":\"AP8A\",\"d\":\"2026-11-21\","
     "\"n\":null,\"tiny\":300}]",
     "64 bits whole, a blob with NULs, a date as it was written, 300 in a TINYINT"},
    {"filter", "{\"table\":\"kinds\",\"where\":{\"id\":2}}",
     "[{\"id\":2,\"i\":-9223372036854775808,\"r\":1.0000000000000001e300,\"t\":\"\",\"b\":\"\",\"d\":\"no "
     "date\",\"n\":1.0,\"tiny\":-1}]",
     "the smallest integer, a large real, empty text is not NULL, a real without a fraction stays one"},
    {"filter", "{\"table\":\"kinds\",\"where\":{\"id\":3}}",
     "[{\"id\":3,\"i\":\"words\",\"r\":null,\"t\":\"a\xEF\xBF\xBD"
     "b\xEF\xBF\xBD(\xEF\xBF\xBD\",\"b\":\"text\",\"d\":5,"
     "\"n\":\"a\xEF\xBF\xBD"
     "b\",\"tiny\":null}]",
     "values of another type than declared; infinity, bytes that are no UTF-8 and NUL have no place in JSON"},
    {"all", "{\"table\":\"odd \\\"name, (\"}", "[{\"we ir\\\"d, (as x\":\"k\",\"AUTOINCREMENT\":7}]",
     "names with quotes, commas, brackets and words of SQL"},
    {"all", "{\"table\":\"seen\"}", "[{\"id\":2,\"line\":\"two\"}]", "views are read as tables"},
    {"all", "{\"table\":\"empty\"}", "[]", "no rows are an empty list"},
    /* order, limit, where */
    {"all", "{\"table\":\"logs\",\"order\":\"-id\",\"limit\":\"1\"}",
     "[{\"id\":3,\"line\":\"three\",\"status\":200,\"took\":2.0}]", "descending, with a limit from a browser"},
    {"all", "{\"table\":\"logs\",\"order\":\"line\",\"limit\":1}",
     "[{\"id\":1,\"line\":\"one\",\"status\":200,\"took\":0.5}]", "ascending"},
    {"all", "{\"table\":\"logs\",\"order\":\"line; DROP TABLE logs\"}",
     "EINVAL: argument \"order\": table \"logs\" has no column", "a column is looked up"},
    {"all", "{\"table\":\"logs\",\"order\":\"--id\"}", "has no column \"-id\"", "one minus sign, not a comment"},
    {"all", "{\"table\":\"logs\",\"order\":3}", "EINVAL: argument \"order\"", "a number is no column"},
    {"all", "{\"table\":\"logs\",\"limit\":0}", "EINVAL: argument \"limit\" takes a whole number from 1 to 50",
     "below"},
    {"all", "{\"table\":\"logs\",\"limit\":\"51\"}", "EINVAL: argument \"limit\"", "more than the parameter rows"},
    {"all", "{\"table\":\"logs\",\"limit\":\"1 OR 1\"}", "EINVAL: argument \"limit\"", "not a number"},
    {"all", "{\"table\":\"logs\",\"limit\":\"1\\u0000\"}", "EINVAL: argument \"limit\"", "a NUL after the number"},
    {"all", "{\"table\":\"logs\",\"limit\":1.5}", "EINVAL: argument \"limit\"", "not whole"},
    {"filter", "{\"table\":\"logs\",\"where\":{\"status\":\"404\",\"line\":\"two\"}}",
     "[{\"id\":2,\"line\":\"two\",\"status\":404,\"took\":null}]", "a number given as text, two conditions"},
    {"filter", "{\"table\":\"logs\",\"where\":{\"took\":null}}",
     "[{\"id\":2,\"line\":\"two\",\"status\":404,\"took\":null}]", "null means NULL"},
    {"filter", "{\"table\":\"logs\",\"where\":{\"took\":0.5}}", "\"line\":\"one\"", "a real"},
    {"filter", "{\"table\":\"logs\",\"where\":{\"line\":\"' OR '1'='1\"}}", "[]", "a quote stays in the value"},
    {"filter", "{\"table\":\"logs\"}", "EINVAL: argument \"where.COLUMN\" is missing", "no condition"},
    {"filter", "{\"table\":\"logs\",\"where\":\"id\"}", "EINVAL: argument \"where.COLUMN\" is missing", "no object"},
    {"filter", "{\"table\":\"logs\",\"where\":{\"line\\\" OR 1=1 --\":\"x\"}}",
     "EINVAL: argument \"where\": table \"logs\" has no column", "SQL as a column"},
    {"filter", "{\"table\":\"logs\",\"where\":{\"LINE\":\"one\"}}", "has no column \"LINE\"", "names are exact"},
    {"filter", "{\"table\":\"logs\",\"where\":{\"line\":[\"one\"]}}",
     "EINVAL: argument \"where.line\" is a list or an object", "no lists"},
    {"filter", "{\"table\":\"logs\",\"where\":{\"line\":\"a\\u0000b\"}}",
     "EINVAL: argument \"where.line\" has a NUL in it", "NUL"},
    /* hostile tables */
    {"all", "{}", "EINVAL: argument \"table\" is missing", "no table"},
    {"all", "{\"table\":\"\"}", "EINVAL: argument \"table\" is missing", "empty"},
    {"all", "{\"table\":7}", "EINVAL: argument \"table\" is missing", "a number"},
    {"all", "{\"table\":\"logs\\u0000\"}", "EINVAL: argument \"table\" has a NUL in it", "NUL"},
    {"all", "{\"table\":\"LOGS\"}", "EINVAL: there is no table \"LOGS\"",
     "SQLite would take it; interests would differ"},
    {"all", "{\"table\":\"logs; DROP TABLE logs\"}", "EINVAL: there is no table", "SQL"},
    {"all", "{\"table\":\"logs\\\" --\"}", "EINVAL: there is no table", "a quote"},
    {"all", "{\"table\":\"main.logs\"}", "EINVAL: there is no table", "qualified"},
    {"all", "{\"table\":\"(select * from logs)\"}", "EINVAL: there is no table", "a query"},
    {"all", "{\"table\":\"x select a( from b, c as sql\"}", "EINVAL: there is no table",
     "words that wake libdbi's parser"},
    {"all", "{\"table\":\"sqlite_master\"}", "EINVAL: there is no table \"sqlite_master\"", "the catalogue itself"},
    {"all", "{\"table\":\"sqlite_sequence\"}", "EINVAL: there is no table \"sqlite_sequence\"", "SQLite's own"},
    {"all", "{\"table\":\"pragma_table_info\"}", "EINVAL: there is no table", "a table that is a function"},
    {"all", "{\"table\":\"a\\r\\nb\\u001b[1m\"}", "EINVAL: there is no table \"a??b?[1m\"",
     "control characters do not reach the log"},
    {"all", "{\"table\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaéééééééééééééé\"}",
     "aaaaaaaaaaaaaaa…\"", "a long name is cut between characters"},
    {"all", "{\"table\":\"trap\"}", "EGENERAL: table \"trap\" cannot be used",
     "libdbi's parser would read this column's name"},
    {"all", "{\"table\":\"logs\",\"tabel\":\"x\"}",
     "EINVAL: argument \"tabel\" is unknown; there are table, order, limit", "a slip is not ignored"},
    {"all", "{\"table\":\"logs\",\"where\":{\"id\":1}}", "EINVAL: argument \"where\" is unknown",
     "all takes no condition"},
    /* save */
    {"save", "{\"table\":\"logs\",\"values\":{\"line\":\"it's \\\"four\\\"\",\"status\":\"500\",\"took\":null}}",
     "[{\"id\":4}]", "quotes in a value"},
    {"filter", "{\"table\":\"logs\",\"where\":{\"id\":\"4\"}}",
     "[{\"id\":4,\"line\":\"it's \\\"four\\\"\",\"status\":500,\"took\":null}]",
     "text of digits becomes an integer there"},
    {"save", "{\"table\":\"logs\",\"values\":{\"line\":true,\"status\":-9223372036854775808,\"took\":1e-300}}",
     "[{\"id\":5}]", "typed values"},
    {"filter", "{\"table\":\"logs\",\"where\":{\"id\":5}}",
     "[{\"id\":5,\"line\":\"1\",\"status\":-9223372036854775808,\"took\":1e-300}]", "and back"},
    {"save", "{\"table\":\"logs\",\"values\":{\"status\":1}}",
     "EINVAL: the database refuses the values: error 19: NOT NULL", "a constraint"},
    {"save", "{\"table\":\"logs\",\"values\":{\"id\":9223372036854775807,\"line\":\"x\"}}",
     "EINVAL: argument \"values.id\" cannot be set",
     "the largest key would close the table for ever, a small one would never be seen"},
    {"save", "{\"table\":\"logs\",\"values\":{}}", "EINVAL: argument \"values.COLUMN\" is missing", "no values"},
    {"save", "{\"table\":\"logs\",\"values\":{\"line) VALUES('x') --\":\"x\"}}",
     "EINVAL: argument \"values\": table \"logs\" has no column", "SQL as a column"},
    {"save", "{\"table\":\"logs\",\"values\":{\"line\":{\"a\":1}}}",
     "EINVAL: argument \"values.line\" is a list or an object", "an object"},
    {"save", "{\"table\":\"logs\",\"values\":{\"line\":\"\\u0000\"}}",
     "EINVAL: argument \"values.line\" has a NUL in it", "NUL"},
    {"save", "{\"table\":\"strict_one\",\"values\":{\"name\":\"abc\"}}", "[{\"id\":\"abc\"}]", "a key of text"},
    {"save", "{\"table\":\"strict_one\",\"values\":{\"name\":\"abc\"}}",
     "EINVAL: the database refuses the values: error 19: UNIQUE", "twice"},
    {"save", "{\"table\":\"strict_one\",\"values\":{\"name\":\"abcdef\"}}",
     "EINVAL: the database refuses the values: error 19: CHECK", "a check"},
    {"save", "{\"table\":\"pair\",\"values\":{\"a\":1,\"b\":2}}", "[{\"id\":null}]", "no single key"},
    {"all", "{\"table\":\"pair\"}", "[{\"a\":1,\"b\":2,\"c\":3}]", "a generated column is read"},
    {"save", "{\"table\":\"pair\",\"values\":{\"c\":3}}", "EINVAL: argument \"values.c\" cannot be set",
     "and not written"},
    {"save", "{\"table\":\"seen\",\"values\":{\"line\":\"x\"}}", "EINVAL: \"seen\" is a view", "not into a view"},
    /* new instances, plain views */
    {"get_new_instances", "{\"table\":\"logs\",\"limit\":1}", "\"id\":5,", "without a page: the newest"},
    {"get_new_instances", "{\"table\":\"logs\",\"order\":\"id\"}", "EINVAL: argument \"order\" is unknown",
     "its order is the key's"},
    {"get_new_instances", "{\"table\":\"nosuch\"}", "EINVAL: there is no table \"nosuch\"", "unknown"},
    {"get_new_instances", "{\"table\":\"plain\"}",
     "EINVAL: new rows of table \"plain\" cannot be told from old ones: declare its key as",
     "the word AUTOINCREMENT in a comment and in a text declares nothing"},
    {"get_new_instances", "{\"table\":\"odd \\\"name, (\"}", "cannot be told", "nor does it as a column's name"},
    {"get_new_instances", "{\"table\":\"seen\"}", "cannot be told", "a view has no key"},
    {"get_new_instances",
     "{\"table\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}",
     "EINVAL: argument \"table\": the name is too long for an interest", "198 bytes at most"},
};

static const char *const hostile_values[] = {
    "'; DROP TABLE logs; --",
    "\\",
    "\\'",
    "''",
    "\"",
    "%s%n%d",
    "\x1a",
    "line\nline\r\t",
    "x select a select b( c",
    "a from b, c, d as sql, (select e( as sql",
    "*/ select 1 /* from x limit */",
    "<script>alert(1)</script>",
    "007",
    "1e5",
    "NULL",
    " ",
    "\xF0\x9F\x8C\x8D",
    "X'00'",
};

#endif
