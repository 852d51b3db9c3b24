-- SPDX-License-Identifier: Apache-2.0
-- Takes a bid. Whether it is high enough the database decides, so that of two at the same moment one wins.
local vault = require "vault"
local form = require "form"
local database = vault.feed("database")

function handle(r)
    local bid, refused = form.fields(r)
    if not bid then
        return refused
    end
    local back = "item.shtml?" .. r:escape(bid.item or "")
    local amount = (bid.amount or ""):match("^%d%d?%d?%d?$")
    if not amount or tonumber(amount) < 1 or tonumber(amount) > 5000 then
        return form.answer(r, 400, "A bid is a whole number of euros, at most 5000.", back)
    end

    local saved, why, status = database:save(r, {
        table = "bids",
        values = {item = bid.item, bidder = bid.bidder, amount = tonumber(amount)}
    })
    if saved then
        return form.answer(r, 200, tonumber(amount) == 5000 and "Sold, to you! It is for sale again." or "Your bid of €" .. amount .. " leads.", back)
    elseif status ~= 400 then
        r:err(why)
        return form.answer(r, 503, "The auction cannot take bids just now. Try again.", back)
    elseif why:find("TOO LOW", 1, true) then
        local item = database:filter(r, {table = "items", where = {id = bid.item}})[1]
        return form.answer(r, 409, "The price is €" .. item.price .. " already. Bid more.", back)
    end
    return form.answer(r, 400, "There is no such lot or bidder.", back)
end
