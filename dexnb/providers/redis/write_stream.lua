-- Appends Stream messages, unless the call of this name was done before; tells for each whether it
-- was kept.

local lease, mark, seconds = take_number(), base .. 'done:' .. take(), take()

local before = call('GET', mark)
if before then
  local kept = {}
  for index = 1, #before do
    kept[index] = tonumber(string.sub(before, index, index))
  end
  return {'ok', '', kept, {}}
end

local function trim(name, size, capacity)
  -- The newest stays in any case: it fits, and its writer is told that it was kept.
  while size * 10 > capacity * 8 and call('ZCARD', base .. name) > 1 do
    local oldest = call('ZRANGE', base .. name, 0, 0)[1]
    local cost = tonumber(string.match(oldest, '^%d+:(%d+):') or 0)
    call('ZREMRANGEBYRANK', base .. name, 0, 0)
    size = call('HINCRBY', base .. 'stream_sizes', name, -cost)
  end
end

local function write(name, capacity, cost, record)
  call('ZCARD', base .. name)
  local number = call('HINCRBY', base .. 'counters', 'position', 1)
  call('ZADD', base .. name, number, number .. ':' .. cost .. ':' .. record)
  local size = call('HINCRBY', base .. 'stream_sizes', name, cost)
  if size * 10 > capacity * 9 then
    trim(name, size, capacity)
  end
  return 1
end

local kept = {}
for index = 1, take_number() do
  local name, capacity, cost, record = take(), take_number(), take_number(), take()
  local token, fits = take_list(take)[1], take() == '1'
  local live = not token or holder('work:', 'work_locks', token, lease)
  kept[index] = live and fits and guarded(name, {}, '', function()
    return write(name, capacity, cost, record)
  end) or 0
end
call('SET', mark, table.concat(kept), 'EX', seconds)
hint('c')
return {'ok', hints(), kept, set_aside}
