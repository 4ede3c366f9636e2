-- Sends a message to a run, unless the call of this name was done before.

local now, mark, seconds = take_number(), base .. 'done:' .. take(), take()
if not call('SET', mark, '', 'NX', 'EX', seconds) then
  return {'ok', '', 0}
end
local kept = put_message(take_message(), now)
return {'ok', hints(), 1 - kept}
