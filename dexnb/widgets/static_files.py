"""The page's files, which are built and never committed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from dexnb.errors import DexnbError

FOLDER = Path(__file__).parent / "static"


@cache
def read_static(name: str, folder: Path = FOLDER) -> str:
    """Give the text of a built file.

    Raises:
        DexnbError: It is not there; the text tells how to build it.
    """
    try:
        return (folder / name).read_text("utf-8")
    except OSError:
        message = (
            f"the Lab's page is not built: {name} is missing beside dexnb.widgets; in a clone run "
            "`make lab`, or `npm ci && npm run build` in widgets/; a wheel brings it along"
        )
        raise DexnbError(message) from None
