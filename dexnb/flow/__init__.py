"""What a user writes: Flows, Steps, options, decisions, contexts and Streams."""

from __future__ import annotations
