-- SPDX-License-Identifier: Apache-2.0
-- The table of the examples.
CREATE TABLE logs (id INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT, status INTEGER, time TEXT);
