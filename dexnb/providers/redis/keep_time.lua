-- Moves the offset of store time from the known value to another, unless somebody else did, and
-- notes how late it is; gives the offset as it is now.

local known, offset, newest = take(), take(), take_number()
if call('HGET', base .. 'meta', 'offset') == known and offset ~= known then
  call('HSET', base .. 'meta', 'offset', offset)
end
if newest > tonumber(call('HGET', base .. 'meta', 'newest') or 0) then
  call('HSET', base .. 'meta', 'newest', string.format('%.0f', newest))
end
return {'ok', '', call('HGET', base .. 'meta', 'offset')}
