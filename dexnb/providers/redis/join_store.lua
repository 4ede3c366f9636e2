-- Makes the store when it is new; gives its layout, clock, offset and newest time.

call('HSETNX', base .. 'meta', 'layout', take())
call('HSETNX', base .. 'meta', 'clock', take())
call('HSETNX', base .. 'meta', 'offset', 0)
return {'ok', '', call('HMGET', base .. 'meta', 'layout', 'clock', 'offset', 'newest')}
