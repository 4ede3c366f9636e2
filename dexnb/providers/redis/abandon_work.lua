-- Gives a work item back.

local now, lease, token, visible_at = take_number(), take_number(), take(), take_number()
local uncounted = take() == '1'

local id = holder('work:', 'work_locks', token, lease)
if not id then
  return {'lost', ''}
end
return_work(id, visible_at, now, uncounted)
return {'ok', hints()}
