"""What a Step's code does, as all rules ask it: calls, pauses, beats, exits, handlers, polls."""
