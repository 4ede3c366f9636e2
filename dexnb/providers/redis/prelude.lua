-- Stands before every script: arguments, keys, and the moves that keep both queues true.
--
-- All keys begin with KEYS[1], which carries the hash tag. Times are whole microseconds of store
-- time and come from the caller: no script reads a clock. A script that fails is not rolled back,
-- so each one reads and checks all that it needs before its first write.
--
-- meta         hash    layout, clock, offset, newest: see server_time.py
-- counters     hash    last numbers given out, and how much waits
-- numbers      hash    run id -> run number; flows: flow id -> number of its newest run
-- runs         zset    run numbers, and runs:STATUS
-- run:N        hash    the run, with the token of its lock; events:N list
-- mail:N       hash    message number -> text; tries:N: -> deliveries
-- inbox:N      zset    visible messages; held:N: those of the turn under way
-- turns        zset    runs that can be fetched, by their oldest visible message
-- delayed      zset    MESSAGE:N by when it becomes visible
-- turn_locks   zset    locked runs by lock end
-- work:I       hash    a work item, with the token of its lock
-- steps:N      hash    step execution id -> work item
-- lane:HANDLER zset    work items that can be fetched; later:HANDLER: by when they become visible
-- work_locks   zset    locked work items by lock end
-- done:NAME    string  a call that must not be done twice, for a while
-- broken       hash    what cannot be delivered and was set aside, with the reason

local base = KEYS[1]
local call, attempt = redis.call, redis.pcall
local position = 0
local hinted = {}
local set_aside = {}

local function take()
  position = position + 1
  return ARGV[position]
end

local function take_number()
  return tonumber(take())
end

local function take_list(read)
  local list = {}
  for index = 1, take_number() do
    list[index] = read()
  end
  return list
end

local sender, channel = take(), take()

-- Tells the other engines what they may look for: messages, work, or any change; gives it back.
local function hints()
  local letters = table.concat(hinted)
  if letters ~= '' then
    attempt('PUBLISH', channel, sender .. ' ' .. letters)
  end
  return letters
end

local function hint(letter)
  if not hinted[letter] then
    hinted[letter] = true
    hinted[#hinted + 1] = letter
  end
end

-- What the server says of a thing that cannot be read. All else that it says is of itself: it has
-- no memory, no disk, no replicas, or takes no writes from us.
local DAMAGE = {'WRONGTYPE', 'not an integer', 'not a valid float', 'not a float', 'overflow',
  'no such key'}

-- Gives what is wrong with a thing; raises an error that says nothing of the thing again.
local function damage(answer)
  local reason = type(answer) == 'table' and answer.err or tostring(answer)
  if not string.match(reason, '^[^%u]*%u%u+ ') then
    return reason
  end
  for _, words in ipairs(DAMAGE) do
    if string.find(reason, words, 1, true) then
      return reason
    end
  end
  error(answer, 0)
end

-- Tells whether a thing is whole, and what was found.
local function sound(action, ...)
  local done, answer = pcall(action, ...)
  if not done then
    damage(answer)
  end
  return done, answer
end

-- Keeps one thing's damage from everything else: what is damaged is set aside with its reason.
local function guarded(name, queues, member, action)
  local done, answer = pcall(action)
  if done then
    return answer
  end
  local reason = damage(answer)
  for _, queue in ipairs(queues) do
    call('ZREM', base .. queue, member)
  end
  call('HSET', base .. 'broken', name, reason)
  set_aside[#set_aside + 1] = name .. ': ' .. reason
  return nil
end

local function holder(kind, queue, token, lease)
  local number = string.match(token, '^' .. string.sub(kind, 1, 1) .. '(%d+)%.')
  local ends = number and call('ZSCORE', base .. queue, number)
  if not ends or tonumber(ends) <= lease then
    return nil
  end
  local done, held = sound(call, 'HGET', base .. kind .. number, 'token')
  return done and held == token and number or nil
end

-- Messages

local function ready(run)
  local first = call('ZRANGE', base .. 'inbox:' .. run, 0, 0)[1]
  if first and not call('ZSCORE', base .. 'turn_locks', run) then
    call('ZADD', base .. 'turns', first, run)
    hint('m')
  end
end

local function place_message(run, id, visible_at, now)
  if visible_at > now then
    call('ZADD', base .. 'delayed', visible_at, id .. ':' .. run)
    hint('m')
  else
    call('ZADD', base .. 'inbox:' .. run, id, id)
  end
end

-- Reads one key of each kind that a turn writes, so that a wrong type shows before any write.
local function check_run(run)
  call('HLEN', base .. 'run:' .. run)
  call('LLEN', base .. 'events:' .. run)
  call('HLEN', base .. 'mail:' .. run)
  call('HLEN', base .. 'tries:' .. run)
  call('ZCARD', base .. 'inbox:' .. run)
  call('ZCARD', base .. 'held:' .. run)
  call('HLEN', base .. 'steps:' .. run)
end

-- Gives the number of a run that is open and sound.
local function open_run(run_id)
  local run = call('HGET', base .. 'numbers', run_id)
  if run and sound(check_run, run) and call('HGET', base .. 'run:' .. run, 'status') == 'RUNNING'
  then
    return run
  end
  return nil
end

local function take_message()
  return {run_id = take(), visible_at = take_number(), text = take()}
end

-- Tells whether there was a run to send it to.
local function put_message(message, now)
  local run = open_run(message.run_id)
  if not run then
    return 0
  end
  local id = call('HINCRBY', base .. 'counters', 'message', 1)
  call('HSET', base .. 'mail:' .. run, id, message.text)
  call('HINCRBY', base .. 'counters', 'messages', 1)
  place_message(run, id, message.visible_at, now)
  ready(run)
  return 1
end

local function unlock_turn(run)
  call('ZREM', base .. 'turn_locks', run)
  call('HDEL', base .. 'run:' .. run, 'token')
end

local function delete_held(run)
  for _, id in ipairs(call('ZRANGE', base .. 'held:' .. run, 0, -1)) do
    call('HDEL', base .. 'mail:' .. run, id)
    call('HDEL', base .. 'tries:' .. run, id)
    call('HINCRBY', base .. 'counters', 'messages', -1)
  end
  call('DEL', base .. 'held:' .. run)
end

local function return_turn(run, visible_at, now, uncounted)
  local ids = call('ZRANGE', base .. 'held:' .. run, 0, -1)
  check_run(run)
  unlock_turn(run)
  for _, id in ipairs(ids) do
    if uncounted and call('HINCRBY', base .. 'tries:' .. run, id, -1) < 1 then
      call('HDEL', base .. 'tries:' .. run, id)
    end
    place_message(run, id, visible_at, now)
  end
  call('DEL', base .. 'held:' .. run)
  ready(run)
end

-- Work items

local function place_work(id, handler, visible_at, now)
  if visible_at > now then
    call('ZADD', base .. 'later:' .. handler, visible_at, id)
  else
    call('ZADD', base .. 'lane:' .. handler, id, id)
  end
  hint('w')
end

local function take_work()
  return {
    run_id = take(), step = take(), visible_at = take_number(), handler = take(),
    fields = take_list(take),
  }
end

local function put_work(run, item, now)
  local id = call('HINCRBY', base .. 'counters', 'item', 1)
  call('HSET', base .. 'work:' .. id, 'run', run, 'run_id', item.run_id, 'step', item.step,
    'handler', item.handler, unpack(item.fields))
  call('HSET', base .. 'steps:' .. run, item.step, id)
  call('HINCRBY', base .. 'counters', 'work', 1)
  place_work(id, item.handler, item.visible_at, now)
end

local function return_work(id, visible_at, now, uncounted)
  local handler = call('HGET', base .. 'work:' .. id, 'handler')
  if not handler then
    error('its record is gone')
  end
  call('ZREM', base .. 'work_locks', id)
  call('HDEL', base .. 'work:' .. id, 'token')
  if uncounted and call('HINCRBY', base .. 'work:' .. id, 'deliveries', -1) < 0 then
    call('HSET', base .. 'work:' .. id, 'deliveries', 0)
  end
  place_work(id, handler, visible_at, now)
end

local function delete_work(id)
  local done, item = sound(call, 'HMGET', base .. 'work:' .. id, 'run', 'step', 'handler')
  if done and item[1] and item[2] and item[3] then
    call('HDEL', base .. 'steps:' .. item[1], item[2])
    call('ZREM', base .. 'lane:' .. item[3], id)
    call('ZREM', base .. 'later:' .. item[3], id)
  end
  call('ZREM', base .. 'work_locks', id)
  call('DEL', base .. 'work:' .. id)
  call('HINCRBY', base .. 'counters', 'work', -1)
end

-- Turns

local function take_turn()
  return {
    run_id = take(), state = take(), status = take(), first_seq = take_number(),
    events = take_list(take), work = take_list(take_work), cancelled = take_list(take),
    messages = take_list(take_message),
  }
end

local function number_of(run_id, turn, run)
  if run_id == turn.run_id then
    return run
  end
  return call('HGET', base .. 'numbers', run_id)
end

-- Says why a turn cannot be applied to a run, or nothing; `run` is '' for one that is to be made.
local function misfit(turn, run, beside)
  local version = 0
  if run ~= '' then
    check_run(run)
    version = call('LLEN', base .. 'events:' .. run)
  end
  if #turn.events > 0 and turn.first_seq ~= version + 1 then
    return 'run ' .. turn.run_id .. ' has ' .. version .. ' events, so the next is number '
      .. version + 1 .. ', not ' .. turn.first_seq
  end
  local seen = {}
  for _, item in ipairs(turn.work) do
    local of = number_of(item.run_id, turn, run)
    if not of then
      return 'a work item belongs to a run that exists, and ' .. item.run_id .. ' does not'
    end
    local known = of ~= '' and call('HGET', base .. 'steps:' .. of, item.step)
    if seen[of .. ':' .. item.step] or known and known ~= beside then
      return 'run ' .. item.run_id .. ' has a work item for ' .. item.step .. ' already'
    end
    seen[of .. ':' .. item.step] = true
  end
  return nil
end

local function empty_run(run)
  local ids = call('HKEYS', base .. 'mail:' .. run)
  for _, id in ipairs(ids) do
    call('ZREM', base .. 'delayed', id .. ':' .. run)
  end
  call('HINCRBY', base .. 'counters', 'messages', -#ids)
  for _, kind in ipairs({'mail:', 'tries:', 'inbox:', 'held:'}) do
    call('DEL', base .. kind .. run)
  end
  call('ZREM', base .. 'turns', run)
  unlock_turn(run)
  for _, id in ipairs(call('HVALS', base .. 'steps:' .. run)) do
    delete_work(id)
  end
  call('DEL', base .. 'steps:' .. run)
end

-- Applies a turn that fits; gives how many of its messages had no run to go to.
local function apply(turn, run, now)
  local status = call('HGET', base .. 'run:' .. run, 'status')
  call('HSET', base .. 'run:' .. run, 'state', turn.state, 'status', turn.status)
  if status ~= turn.status then
    if status then
      call('ZREM', base .. 'runs:' .. status, run)
    end
    call('ZADD', base .. 'runs:' .. turn.status, run, run)
  end
  for _, event in ipairs(turn.events) do
    call('RPUSH', base .. 'events:' .. run, event)
  end
  for _, item in ipairs(turn.work) do
    put_work(number_of(item.run_id, turn, run), item, now)
  end
  for _, step in ipairs(turn.cancelled) do
    local id = call('HGET', base .. 'steps:' .. run, step)
    if id then
      delete_work(id)
    end
  end
  local dropped = 0
  for _, message in ipairs(turn.messages) do
    dropped = dropped + 1 - put_message(message, now)
  end
  if turn.status ~= 'RUNNING' then
    empty_run(run)
  else
    ready(run)
  end
  hint('c')
  return dropped
end

-- Before the queues are looked at: frees what nobody holds any more, shows what has become due.
-- Bounded, so that no call holds up the server for long; what is left comes with the next.

local MOST = 1000

local function settle_turns(now, lease)
  local free = call('ZRANGEBYSCORE', base .. 'turn_locks', '-inf', lease, 'LIMIT', 0, MOST)
  for _, run in ipairs(free) do
    guarded('run ' .. run, {'turn_locks', 'turns'}, run, function()
      return_turn(run, 0, now, false)
    end)
  end
  for _, member in ipairs(call('ZRANGEBYSCORE', base .. 'delayed', '-inf', now, 'LIMIT', 0, MOST))
  do
    local id, run = string.match(member, '^(%d+):(%d+)$')
    call('ZREM', base .. 'delayed', member)
    if id then
      guarded('run ' .. run, {'turns'}, run, function()
        call('ZADD', base .. 'inbox:' .. run, id, id)
        ready(run)
      end)
    end
  end
end

local function settle_work(now, lease)
  local free = call('ZRANGEBYSCORE', base .. 'work_locks', '-inf', lease, 'LIMIT', 0, MOST)
  for _, id in ipairs(free) do
    guarded('work item ' .. id, {'work_locks'}, id, function()
      return_work(id, 0, now, false)
    end)
  end
end
