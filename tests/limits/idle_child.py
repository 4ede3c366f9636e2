"""A program whose engine has nothing to do; prints CPU seconds and wake-ups per second.

One line for each of five windows of time. Arguments: the store, the seconds of a window.
"""

from __future__ import annotations

import resource
import sys
import time

import dexnb

WINDOWS = 5


def main(store: str, seconds: float) -> None:
    """Be idle and count."""
    with dexnb.open(store):
        time.sleep(2.0)
        for _ in range(WINDOWS):
            _count(seconds)


def _count(seconds: float) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF)
    began = time.monotonic()
    time.sleep(seconds)
    after = resource.getrusage(resource.RUSAGE_SELF)
    took = time.monotonic() - began
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # Each time that a thread goes to sleep it gives up the processor by itself.
    print(cpu / took, (after.ru_nvcsw - before.ru_nvcsw) / took)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
