"""Flows to run, to read and to copy; each is a file of its own."""

from __future__ import annotations
