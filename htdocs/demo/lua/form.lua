-- SPDX-License-Identifier: Apache-2.0
-- What the demo's forms have in common: fields in, one sentence out.
local vault = require "vault"
local form = {}

-- The fields of a form that this site's own page has sent, trimmed; or nil and the status that says why not.
function form.fields(r)
    if r.method ~= "POST" then
        r.headers_out["Allow"] = "POST"
        return nil, 405
    end
    if not vault.same_origin(r) then
        return nil, 403
    end
    local fields = {}
    for name, value in pairs(r:parsebody() or {}) do
        fields[name] = tostring(value):gsub("%c+", " "):match("^%s*(.-)%s*$")
    end
    return fields
end

-- For the script of a page the sentence; without a script back to the page, or the sentence with a way back.
function form.answer(r, status, sentence, back)
    local good = status == 200
    if (r.headers_in["Accept"] or ""):find("text/plain", 1, true) then
        r.content_type = "text/plain; charset=utf-8"
        r.status = status
        r:puts(sentence, "\n")
    elseif good then
        r.headers_out["Location"] = back
        return 303
    else
        r.content_type = "text/html; charset=utf-8"
        r.status = status
        r:puts('<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
            '<title>Not done</title><link rel="icon" href="/icon.svg" type="image/svg+xml"><link rel="stylesheet" href="/demo.css">',
            '<main><p>', r:escape_html(sentence), '</p><p><a href="', r:escape_html(back), '">Back</a></p></main></html>\n')
    end
    return apache2.OK
end

return form
