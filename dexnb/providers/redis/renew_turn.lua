-- Moves the end of a run's lock.

local lease, token, ends = take_number(), take(), take_number()
local run = holder('run:', 'turn_locks', token, lease)
if not run then
  return {'lost', ''}
end
call('ZADD', base .. 'turn_locks', ends, run)
return {'ok', ''}
