-- Keeps checkpoints; gives the tokens that are not live.

local lease = take_number()
local lost = {}
for _, beat in ipairs(take_list(function() return {take(), take_list(take)[1]} end)) do
  local token, checkpoint = beat[1], beat[2]
  local id = holder('work:', 'work_locks', token, lease)
  if not id then
    lost[#lost + 1] = token
  elseif checkpoint then
    call('HSET', base .. 'work:' .. id, 'checkpoint', checkpoint)
  else
    call('HDEL', base .. 'work:' .. id, 'checkpoint')
  end
end
return {'ok', '', lost}
