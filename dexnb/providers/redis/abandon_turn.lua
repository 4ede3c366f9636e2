-- Gives a run back with what was fetched.

local now, lease, token, visible_at = take_number(), take_number(), take(), take_number()
local uncounted = take() == '1'

local run = holder('run:', 'turn_locks', token, lease)
if not run then
  return {'lost', ''}
end
return_turn(run, visible_at, now, uncounted)
return {'ok', hints()}
