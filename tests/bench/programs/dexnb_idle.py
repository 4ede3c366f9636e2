"""An engine of dexnb that has nothing to do."""

from __future__ import annotations

import time

import dexnb
from tests.bench.programs.meter import Meter, answer, arguments


def main() -> None:
    """Let it settle and measure."""
    asked = arguments()
    with dexnb.open(asked["store"]):
        time.sleep(2.0)
        with Meter() as meter:
            time.sleep(asked["seconds"])
        answer(**meter.figures(asked["seconds"]))


if __name__ == "__main__":
    main()
