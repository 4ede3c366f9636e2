-- Moves the ends of work items' locks; gives the tokens that are not live.

local lease, ends = take_number(), take_number()
local lost = {}
for _, token in ipairs(take_list(take)) do
  local id = holder('work:', 'work_locks', token, lease)
  if id then
    call('ZADD', base .. 'work_locks', ends, id)
  else
    lost[#lost + 1] = token
  end
end
return {'ok', '', lost}
