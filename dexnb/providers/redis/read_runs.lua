-- Gives records of runs: of one run id, of a flow id's newest, or a page of all, newest first.

local by, name = take(), take()
local numbers = {}
if by == 'list' then
  local limit, before, last = take_number(), take(), '+inf'
  if before ~= '' then
    last = call('HGET', base .. 'numbers', before)
    last = last and '(' .. last or '-inf'
  end
  local queue = base .. (name == '' and 'runs' or 'runs:' .. name)
  numbers = call('ZREVRANGEBYSCORE', queue, last, '-inf', 'LIMIT', 0, limit)
else
  numbers = {call('HGET', base .. by, name) or nil}
end
local runs = {}
for _, run in ipairs(numbers) do
  local done, record = sound(function()
    local fields = call('HMGET', base .. 'run:' .. run, 'run_id', 'flow_id', 'flow_type',
      'status', 'state')
    fields[6] = call('LLEN', base .. 'events:' .. run)
    return fields
  end)
  if done and record[1] then
    runs[#runs + 1] = record
  elseif by ~= 'list' then
    return redis.error_reply('WRONGTYPE run ' .. run .. ' cannot be read')
  else
    set_aside[#set_aside + 1] = 'run ' .. run .. ': it cannot be read'
  end
end
return {'ok', '', runs, set_aside}
