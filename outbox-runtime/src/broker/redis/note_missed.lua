-- How many entries of the stream KEYS[1] were removed before the group ARGV[1] had read them. From then on the server counts them
-- as read, so that they are told once.

local function named(list)
  local fields = {}
  for place = 1, #list, 2 do
    fields[list[place]] = list[place + 1]
  end
  return fields
end

local stream = named(redis.call('XINFO', 'STREAM', KEYS[1]))
local removed = stream['entries-added'] - stream['length']
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local fields = named(group)
  local read = fields['entries-read']
  if fields['name'] == ARGV[1] and read and removed > read then
    redis.call('XGROUP', 'SETID', KEYS[1], ARGV[1], fields['last-delivered-id'], 'ENTRIESREAD', removed)
    return removed - read
  end
end
return 0
