-- Locks the runs with the oldest visible messages. Gives the turns, when more may be ready (two
-- scores, one of each clock) and what was set aside.

local now, lease, ends, limit, tag =
  take_number(), take_number(), take_number(), take_number(), take()

local function lock(run)
  local record = call('HMGET', base .. 'run:' .. run, 'run_id', 'flow_id', 'flow_type', 'state')
  if not (record[1] and record[2] and record[3] and record[4]) then
    error('its record is gone')
  end
  check_run(run)
  local token = 'r' .. run .. '.' .. tag
  local turn = {token, record[1], record[2], record[3], record[4],
    call('LLEN', base .. 'events:' .. run)}
  local ids = call('ZRANGE', base .. 'inbox:' .. run, 0, -1)
  local tries = {}
  for index, id in ipairs(ids) do
    turn[#turn + 1] = call('HGET', base .. 'mail:' .. run, id)
    tries[index] = tonumber(call('HGET', base .. 'tries:' .. run, id) or 0)
    if not turn[#turn] or not tries[index] then
      error('message ' .. id .. ' cannot be read')
    end
    turn[#turn + 1] = tries[index] + 1
  end
  call('ZREM', base .. 'turns', run)
  if #ids == 0 then
    return nil
  end
  call('ZADD', base .. 'turn_locks', ends, run)
  call('HSET', base .. 'run:' .. run, 'token', token)
  call('RENAME', base .. 'inbox:' .. run, base .. 'held:' .. run)
  for index, id in ipairs(ids) do
    call('HSET', base .. 'tries:' .. run, id, tries[index] + 1)
  end
  return turn
end

settle_turns(now, lease)
local turns = {}
local page
repeat
  -- Each of them leaves the queue, locked or set aside.
  page = call('ZRANGE', base .. 'turns', 0, limit - #turns - 1)
  for _, run in ipairs(page) do
    turns[#turns + 1] = guarded('run ' .. run, {'turns', 'turn_locks'}, run, function()
      return lock(run)
    end)
  end
until #page == 0 or #turns == limit
local due = call('ZRANGE', base .. 'delayed', 0, 0, 'WITHSCORES')[2] or false
local free = call('ZRANGE', base .. 'turn_locks', 0, 0, 'WITHSCORES')[2] or false
return {turns, due, free, set_aside}
