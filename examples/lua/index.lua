-- SPDX-License-Identifier: Apache-2.0
-- The page: the rows that are there now, and the method that it asks for news.
local vault = require "vault"

function handle(r)
    r.content_type = "text/html; charset=utf-8"
    local live, why, status = vault.add_long_poll(r, "latest.lua")
    local rows
    if live then
        rows, why, status = vault.feed("database"):get_new_instances(r, {table = "logs", limit = 20})
    end
    if why then
        r:err(why)
        return status
    end

    r:puts('<!doctype html>\n<title>Log</title>\n', vault.script(r), '\n<table><tbody id="logs-div">\n')
    vault.render(r, "log-entries.html", rows, {append = "logs-div"})
    r:puts('</tbody></table>\n')
    return apache2.OK
end
