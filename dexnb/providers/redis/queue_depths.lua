-- Counts what waits.

local counts = call('HMGET', base .. 'counters', 'messages', 'work')
local leased = call('ZCOUNT', base .. 'work_locks', '(' .. take(), '+inf')
return {'ok', '', tonumber(counts[1] or 0), tonumber(counts[2] or 0), leased}
