"""Measures what a recording of calls costs a Python program, as ratios with their aims.

    python bench/recorder.py [--json]

`calls` has many calls of the program's own, `lib` many of a library, `cpu` a loop without calls.
Plain and recorded runs are measured in turns, so that what else the machine does falls on both.
Pythons before 3.12 are left out: they trace every call.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from recording.recorders import PROGRAMS, PYTHONS, run_plain, run_recorded

AIMS = {"calls": 6.0, "lib": 2.5, "cpu": 2.5}
ROUNDS = 3
_MONITORED = 12  # the minor version from which on Python has sys.monitoring


def measure_ratio(python: str, what: str, scratch: Path) -> float:
    """Return the time of a recorded run over that of a plain one, each the median of some."""
    argv = [python, "heavy.py", what]
    alone, with_recorder = [], []
    for _ in range(ROUNDS):
        began = time.monotonic()
        run_plain(argv, PROGRAMS)
        alone.append(time.monotonic() - began)
        with_recorder.append(float(asyncio.run(run_recorded(argv, PROGRAMS, scratch)).took_s))
    return statistics.median(with_recorder) / statistics.median(alone)


def main() -> None:
    """Measure all three with each Python that monitors."""
    monitored = {
        name: path for name, path in PYTHONS.items() if int(name.partition(".")[2]) >= _MONITORED
    }
    found = {}
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as scratch:
        for name, path in monitored.items():
            for what in AIMS:
                found[f"{name}.{what}_ratio"] = round(measure_ratio(path, what, Path(scratch)), 2)
    if "--json" in sys.argv:
        print(json.dumps(found))
        return
    for key, ratio in found.items():
        aim = AIMS[key.rpartition(".")[2].removesuffix("_ratio")]
        print(f"{key:20} {ratio:6.2f}  aim {aim:g}{'' if ratio <= aim else '  MISSED'}")


if __name__ == "__main__":
    main()
