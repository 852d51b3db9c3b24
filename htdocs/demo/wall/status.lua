-- SPDX-License-Identifier: Apache-2.0
-- Changes a profile's status.
local vault = require "vault"
local form = require "form"

function handle(r)
    local profile, refused = form.fields(r)
    if not profile then
        return refused
    end
    local back = "./?" .. r:escape(profile.profile or "")
    local length = utf8.len(profile.status or "")
    if not length or length < 1 or length > 80 then
        return form.answer(r, 400, "A status has 1 to 80 characters.", back)
    end
    local rows, why = vault.feed("database"):update(r, {table = "profiles",
        key = profile.profile, values = {status = profile.status}})
    if not rows then
        r:err(why)
        return form.answer(r, 503, "The wall cannot be written to just now. Try again.", back)
    elseif rows[1].updated == 0 then
        return form.answer(r, 400, "There is no such profile.", back)
    end
    return form.answer(r, 200, "Changed.", back)
end
