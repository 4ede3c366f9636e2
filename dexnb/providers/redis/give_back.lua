-- Frees, uncounted, what a fetch has locked whose answer was lost: its tokens end with `tag`.

local now, kind, tag = take_number(), take(), take()
local queue = kind == 'work:' and 'work_locks' or 'turn_locks'
local give = kind == 'work:' and return_work or return_turn
for _, number in ipairs(call('ZRANGE', base .. queue, 0, -1)) do
  local done, token = sound(call, 'HGET', base .. kind .. number, 'token')
  if done and type(token) == 'string' and string.match(token, '^.%d+%.(.*)$') == tag then
    guarded(kind .. number, {queue}, number, function()
      give(number, 0, now, true)
    end)
  end
end
return {'ok', hints()}
