-- Locks the oldest free and visible work items of these handlers. Gives the items, when more may
-- be ready (two scores, one of each clock) and what was set aside.

local now, lease, ends, limit, tag =
  take_number(), take_number(), take_number(), take_number(), take()
local began, handlers = take(), take_list(take)

local function lock(id)
  local name = base .. 'work:' .. id
  local item = call('HMGET', name, 'run_id', 'flow_id', 'flow_type', 'step_type', 'step',
    'payload', 'attempt', 'deliveries', 'checkpoint', 'first_attempt_at')
  for index = 1, 8 do
    if not item[index] then
      error('its record is gone')
    end
  end
  local tried = tonumber(item[8])
  if not (tried and string.match(item[7], '^%d+$') and tonumber(item[10] or began)) then
    error('its attempts cannot be read')
  end
  local token = 'w' .. id .. '.' .. tag
  call('HSET', name, 'token', token, 'deliveries', tried + 1)
  if not item[10] then
    call('HSET', name, 'first_attempt_at', began)
    item[10] = began
  end
  call('ZADD', base .. 'work_locks', ends, id)
  item[8] = tried + 1
  table.insert(item, 1, token)
  return item
end

local function show_due(handler)
  local later = base .. 'later:' .. handler
  for _, id in ipairs(call('ZRANGEBYSCORE', later, '-inf', now, 'LIMIT', 0, MOST)) do
    call('ZREM', later, id)
    call('ZADD', base .. 'lane:' .. handler, id, id)
  end
end

-- Gives the oldest of all lanes, in order.
local function oldest(count)
  local found = {}
  for _, handler in ipairs(handlers) do
    for _, id in ipairs(call('ZRANGE', base .. 'lane:' .. handler, 0, count - 1)) do
      found[#found + 1] = {tonumber(id), id, 'lane:' .. handler}
    end
  end
  table.sort(found, function(one, other) return one[1] < other[1] end)
  return found
end

settle_work(now, lease)
for _, handler in ipairs(handlers) do
  show_due(handler)
end
local items = {}
local found
repeat
  -- Each of them leaves its lane, locked or set aside.
  found = oldest(limit - #items)
  for index = 1, math.min(limit - #items, #found) do
    local id, lane = found[index][2], found[index][3]
    items[#items + 1] = guarded('work item ' .. id, {lane, 'work_locks'}, id, function()
      local item = lock(id)
      call('ZREM', base .. lane, id)
      return item
    end)
  end
until #found == 0 or #items == limit
local due = false
for _, handler in ipairs(handlers) do
  local first = call('ZRANGE', base .. 'later:' .. handler, 0, 0, 'WITHSCORES')[2]
  if first and (not due or tonumber(first) < tonumber(due)) then
    due = first
  end
end
local free = call('ZRANGE', base .. 'work_locks', 0, 0, 'WITHSCORES')[2] or false
return {items, due, free, set_aside}
