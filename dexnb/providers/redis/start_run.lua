-- Makes a run with its first turn, unless its flow id has an open one.

local now, flow_id, flow_type = take_number(), take(), take()
local turn = take_turn()

local newest = call('HGET', base .. 'flows', flow_id)
if newest then
  local record = call('HMGET', base .. 'run:' .. newest, 'run_id', 'status')
  if record[2] == 'RUNNING' then
    return {'open', '', record[1]}
  end
end
if call('HGET', base .. 'numbers', turn.run_id) then
  return {'refused', '', 'a run id is used once, and run ' .. turn.run_id .. ' exists already'}
end
local reason = misfit(turn, '', nil)
if reason then
  return {'refused', '', reason}
end
local run = tostring(call('HINCRBY', base .. 'counters', 'run', 1))
call('HSET', base .. 'run:' .. run, 'run_id', turn.run_id, 'flow_id', flow_id,
  'flow_type', flow_type)
call('HSET', base .. 'numbers', turn.run_id, run)
call('HSET', base .. 'flows', flow_id, run)
call('ZADD', base .. 'runs', run, run)
local dropped = apply(turn, run, now)
return {'ok', hints(), dropped}
