-- Removes the members of the group ARGV[1] of the stream KEYS[1] that hold nothing, but ARGV[2]. In one script, since a member
-- that is removed takes with it what it was given a moment before.
local removed = 0
for _, member in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local fields = {}
  for place = 1, #member, 2 do
    fields[member[place]] = member[place + 1]
  end
  if fields['pending'] == 0 and fields['name'] ~= ARGV[2] then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], fields['name'])
    removed = removed + 1
  end
end
return removed
