"""A runtime of duroxide that has nothing to do."""

from __future__ import annotations

import time

from tests.bench.programs.duroxide_flows import opened
from tests.bench.programs.meter import Meter, answer, arguments


def main() -> None:
    """Let it settle and measure."""
    asked = arguments()
    runtime, _ = opened(asked["store"])
    time.sleep(2.0)
    with Meter() as meter:
        time.sleep(asked["seconds"])
    answer(**meter.figures(asked["seconds"]))
    runtime.shutdown(1000)


if __name__ == "__main__":
    main()
