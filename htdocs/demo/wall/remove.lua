-- SPDX-License-Identifier: Apache-2.0
-- Removes a post.
local vault = require "vault"
local form = require "form"

function handle(r)
    local post, refused = form.fields(r)
    if not post then
        return refused
    end
    local rows, why = vault.feed("database"):delete(r, {table = "posts", key = post.post or ""})
    if not rows then
        r:err(why)
        return form.answer(r, 503, "The wall cannot be written to just now. Try again.", "./")
    elseif rows[1].deleted == 0 then
        return form.answer(r, 404, "Somebody else has removed it already.", "./")
    end
    return form.answer(r, 200, "Removed.", "./")
end
