"""JSON text as it is stored: ASCII only, strict (no NaN), compact, so that every reader agrees."""

from __future__ import annotations

import json
from typing import Any

from dexnb.errors import DocumentError

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode
_decode = json.JSONDecoder().decode


def to_text(document: Any) -> str:
    """Write a document of plain JSON values as one line.

    Raises:
        DocumentError: The document holds something that is not plain JSON.
    """
    try:
        return _encode(document)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"not a JSON document: {error}"
        raise DocumentError(message) from error


def from_text(text: str, what: str = "document") -> Any:
    """Read what `to_text` wrote.

    Raises:
        DocumentError: The text is not JSON; `what` names it.
    """
    try:
        return _decode(text)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"{what} cannot be read: {error}"
        raise DocumentError(message) from error
