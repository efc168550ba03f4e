-- Trims the stream KEYS[1] of what is older than ARGV[1] milliseconds and handled by every group, and of what is older than
-- ARGV[2] milliseconds though some group has not handled it. Returns how many entries went for each reason.

-- At most so many calls for each, of which the server bounds the work of one: what is left goes the next time.
local ROUNDS = 10

local function parts(id)
  local millis, number = string.match(id, '(%d+)-(%d+)')
  return tonumber(millis), tonumber(number)
end

local function is_before(one, other)
  local millis, number = parts(one)
  local other_millis, other_number = parts(other)
  return millis < other_millis or (millis == other_millis and number < other_number)
end

local function trim(to)
  local removed = 0
  for _ = 1, ROUNDS do
    local count = redis.call('XTRIM', KEYS[1], 'MINID', '~', to)
    removed = removed + count
    if count == 0 then break end
  end
  return removed
end

if redis.call('EXISTS', KEYS[1]) == 0 then
  return {0, 0}
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function ago(millis)
  return string.format('%.0f-0', math.max(now - tonumber(millis), 0))
end

-- The first entry that somebody has not handled: the lowest without an ack, or what comes after the last delivered.
local handled = ago(ARGV[1])
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local fields = {}
  for place = 1, #group, 2 do
    fields[group[place]] = group[place + 1]
  end
  local open = fields['last-delivered-id']
  if fields['pending'] > 0 then
    open = redis.call('XPENDING', KEYS[1], fields['name'])[2]
  end
  if is_before(open, handled) then
    handled = open
  end
end
local of_handled = trim(handled)
local of_unread = 0
if is_before(handled, ago(ARGV[2])) then
  of_unread = trim(ago(ARGV[2]))
end
return {of_handled, of_unread}
