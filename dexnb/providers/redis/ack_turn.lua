-- Applies a turn under its lock, deletes what it has read, and unlocks the run.

local now, lease, token = take_number(), take_number(), take()
local turn = take_turn()

local run = holder('run:', 'turn_locks', token, lease)
if not run then
  return {'lost', ''}
end
local run_id = call('HGET', base .. 'run:' .. run, 'run_id')
if run_id ~= turn.run_id then
  return {'refused', '', 'lock token ' .. token .. ' is for run ' .. run_id .. ', not for '
    .. turn.run_id}
end
local reason = misfit(turn, run, nil)
if reason then
  return {'refused', '', reason}
end
delete_held(run)
unlock_turn(run)
local dropped = apply(turn, run, now)
return {'ok', hints(), dropped}
