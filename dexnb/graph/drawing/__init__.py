"""A `FlowGraph` as a picture: frames, cards and rows, measured, laid out and written as SVG."""
