"""`dexnb worker`: serves Flows from a store with several processes, on any number of machines.

The parent (`parent`, `slot`) starts children (`child`, `serve`), watches them and serves health and
metrics (`endpoint`); the user's code runs in the children alone. A child learns its `Job` by its
standard input, whose end means that it shall drain; it tells of itself by reports on its standard
output. So a parent that was killed takes its children along in order.
"""
