"""The Python side of the Lab's page: the widget, its publisher, and static pictures of a run."""

from __future__ import annotations
