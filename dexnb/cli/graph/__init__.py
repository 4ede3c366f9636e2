"""`dexnb graph`: the definition graphs of files, folders and notebooks, in text or as a picture."""

from __future__ import annotations
