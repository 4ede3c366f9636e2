-- Deletes a work item and with it sends a message, enqueues a retry, or applies a turn if it fits
-- its run as it is now; where the turn does not, the message is sent.

local now, lease, token = take_number(), take_number(), take()
local message, retry, turn = take_list(take_message)[1], take_list(take_work)[1], take_list(take_turn)[1]

local id = holder('work:', 'work_locks', token, lease)
if not id then
  return {'lost', ''}
end

local function quiet_run()
  local run = open_run(turn.run_id)
  if not run or call('ZSCORE', base .. 'turn_locks', run)
    or call('ZCARD', base .. 'inbox:' .. run) > 0
    or turn.first_seq ~= call('LLEN', base .. 'events:' .. run) + 1
  then
    return nil
  end
  return run
end

if turn then
  settle_turns(now, lease)
  local run = quiet_run()
  if run then
    local reason = misfit(turn, run, id)
    if reason then
      return {'refused', hints(), reason}
    end
    delete_work(id)
    local dropped = apply(turn, run, now)
    return {'ok', hints(), dropped, 1}
  end
end

local run
if retry then
  run = call('HGET', base .. 'numbers', retry.run_id)
  if not run then
    return {'refused', '', 'a work item belongs to a run that exists, and ' .. retry.run_id
      .. ' does not'}
  end
  local known = call('HGET', base .. 'steps:' .. run, retry.step)
  if known and known ~= id then
    return {'refused', '', 'run ' .. retry.run_id .. ' has a work item for ' .. retry.step
      .. ' already'}
  end
end
delete_work(id)
if retry then
  put_work(run, retry, now)
end
local dropped = message and 1 - put_message(message, now) or 0
return {'ok', hints(), dropped, 0}
