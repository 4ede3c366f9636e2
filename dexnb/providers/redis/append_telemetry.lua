-- Keeps chunks of telemetry within a budget for each run and one for all; oldest first out.

local of_a_run, of_all = take_number(), take_number()

local function drop_oldest(run_id)
  local chunk = call('LPOP', base .. 'telemetry:' .. run_id)
  local size = tonumber(chunk and string.match(chunk, '^(%d+):') or 0)
  if call('EXISTS', base .. 'telemetry:' .. run_id) == 0 then
    size = tonumber(call('HGET', base .. 'telemetry_sizes', run_id) or 0)
    call('HDEL', base .. 'telemetry_sizes', run_id)
    call('ZREM', base .. 'telemetry_runs', run_id)
  else
    call('HINCRBY', base .. 'telemetry_sizes', run_id, -size)
  end
  return call('HINCRBY', base .. 'counters', 'telemetry', -size)
end

local function size_of(run_id)
  return tonumber(call('HGET', base .. 'telemetry_sizes', run_id) or 0)
end

local function append(run_id, size, chunk)
  call('RPUSH', base .. 'telemetry:' .. run_id, size .. ':' .. chunk)
  call('HINCRBY', base .. 'telemetry_sizes', run_id, size)
  call('ZADD', base .. 'telemetry_runs', call('HINCRBY', base .. 'counters', 'chunk', 1), run_id)
  local total = call('HINCRBY', base .. 'counters', 'telemetry', size)
  while size_of(run_id) > of_a_run do
    total = drop_oldest(run_id)
  end
  while total > of_all do
    local quiet = call('ZRANGE', base .. 'telemetry_runs', 0, 0)[1]
    if not quiet then
      break
    end
    total = drop_oldest(quiet)
  end
end

for _ = 1, take_number() do
  local run_id, size, chunk = take(), take_number(), take()
  guarded('telemetry of ' .. run_id, {'telemetry_runs'}, run_id, function()
    append(run_id, size, chunk)
  end)
end
return {'ok', '', set_aside}
