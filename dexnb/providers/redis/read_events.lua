-- Gives a run's events behind a number.

local run = call('HGET', base .. 'numbers', take())
local after = take_number()
if not run then
  return {'ok', '', {}}
end
return {'ok', '', call('LRANGE', base .. 'events:' .. run, after, -1)}
