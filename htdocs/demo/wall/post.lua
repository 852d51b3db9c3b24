-- SPDX-License-Identifier: Apache-2.0
-- Writes a post on a wall: a row with the key of the profile. That the profile's collection grew, the feed sees.
local vault = require "vault"
local form = require "form"

function handle(r)
    local post, refused = form.fields(r)
    if not post then
        return refused
    end
    local back = "./?" .. r:escape(post.profile or "")
    local length = utf8.len(post.text or "")
    if not length or length < 1 or length > 200 then
        return form.answer(r, 400, "A post has 1 to 200 characters.", back)
    end
    local saved, why, status = vault.feed("database"):save(r, {table = "posts",
        values = {profile = post.profile, author = post.author, text = post.text}})
    if saved then
        return form.answer(r, 200, "Posted.", back)
    end
    if status == 400 then
        return form.answer(r, 400, "There is no such wall or author.", back)
    end
    r:err(why)
    return form.answer(r, 503, "The wall cannot be written to just now. Try again.", back)
end
