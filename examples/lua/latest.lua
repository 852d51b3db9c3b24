-- SPDX-License-Identifier: Apache-2.0
-- The method: the rows that are new to the page that asks. Rows that are nil, nothing new, render nothing, and the poll waits on.
local vault = require "vault"

function handle(r)
    r.content_type = "text/html; charset=utf-8"
    local rows, why, status = vault.feed("database"):get_new_instances(r, {table = "logs", limit = 20})
    if why then
        r:err(why)
        return status
    end
    vault.render(r, "log-entries.html", rows, {append = "logs-div"})
    return apache2.OK
end
