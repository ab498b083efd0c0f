#!/usr/bin/env lua
-- Sells things.

local json = require("cjson")
local util = require "shop.util"
local Base, Logger = require("shop.base"), require("shop.logger")
require("shop.setup")

local MAX_ITEMS = 10
local format, insert = string.format, table.insert
local log = Logger.new("shop")
DEBUG = false

--- A shop.
-- Keeps items.
local Shop = {}
Shop.__index = Shop
Shop.VERSION = "1.0"
Shop._secret = "x"
setmetatable(Shop, { __index = Base })

--[[ Opens a shop.
Not thread safe. ]]
function Shop.new(name, options)
  local self = setmetatable({}, Shop)
  options = options or {}
  self.name = name
  self.client = Client.new(name)
  self.cache = Cache:new(3)
  self.log = options.log or log
  self.items = {}
  self:open()
  return self
end

--- Opens it.
function Shop:open()
  self.client:connect()
  self.cache:warm(self.name)
  self.log:info(format("open %s", self.name))
  Base.open(self)
end

--- Sells an item.
-- @param id the item
function Shop:sell(id, ...)
  local item = self:find(id)
  if not item then
    return nil, util.error("missing", id)
  end
  item:reserve()
  local receipt = Receipt.new(item, ...)
  receipt:print()
  receipt.lines[1]:show()
  insert(self.items, item)
  for i, other in ipairs(self.items) do
    other:discount(i)
  end
  for key, value in pairs(self:index()) do
    value:touch(key)
  end
  for n = 1, MAX_ITEMS do
    count(n)
  end
  local total = util.sum(self.items, function(it)
    return it:price()
  end)
  local handler = function(event)
    event:accept()
    self:remember(event)
  end
  handler(total)
  self.on_sale = function(line)
    return line:show()
  end
  local ok, err = pcall(function()
    risky(id)
  end)
  if not ok then
    log:error(err)
  end
  local shop = Shop.new("other")
  shop:close()
  Shop.audit(receipt)
  self.client.session:refresh()
  print(json.encode { id = id, total = tostring(total) })
  return receipt
end

function Shop:find(id)
  local found = self.items[id] or lookup(id)
  while found do
    found = found:next()
  end
  repeat
    local step = advance(id)
    step:go()
  until step
  return found
end

Shop.audit = function(receipt)
  local function helper(n)
    return receipt:lines(n)
  end
  helper(1)
  return helper(2):sum()
end

function Shop.plugins.load(name)
  return require("shop.plugins." .. name)
end

local function trim(text)
  return (text:gsub("^%s+", ""))
end

local double = function(n)
  return n * 2
end

function global_helper(a, b)
  return trim(a) .. double(b)
end

local Handlers = {
  level = 3,
  start = function(self, event)
    event:begin()
    trim(event.name)
  end,
  stop = function()
    Shop.new("x"):close()
  end,
  nested = { deep = function() return deep() end },
}

--- A special shop.
local Special = setmetatable({}, { __index = Shop })
Special.__index = Special

function Special:sell(id)
  local receipt = Shop.sell(self, id)
  receipt:stamp()
  return receipt
end

function Special.create(...)
  local special = Special:new(...)
  special:sell(1)
  return special
end

local settings = {
  name = "shop",
  retries = 3,
}

if DEBUG then
  local debugger = Debugger.new()
  debugger:attach(settings.name)
end

goto finish
Handlers.start(Handlers, Event.new("x"))
::finish::

Handlers:start(nil)
local special = Special.create("a")
special:sell(2)

return Shop
