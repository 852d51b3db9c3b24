-- SPDX-License-Identifier: Apache-2.0
-- Saves a line from a form: each page that shows the table has it at once.
local vault = require "vault"

function handle(r)
    if r.method ~= "POST" then
        r.headers_out["Allow"] = "POST"
        return 405
    end
    if not vault.same_origin(r) then -- a page of another site, with this visitor's cookies
        return 403
    end
    local form = r:parsebody()
    if (form.request or "") == "" or not utf8.len(form.request) then
        return 400
    end
    local _, why, status = vault.feed("database"):save(r, {
        table = "logs",
        values = {request = form.request, status = 200, time = os.date("!%Y-%m-%dT%H:%M:%S")},
    })
    if why then
        r:err(why)
        return status
    end
    return 204
end
