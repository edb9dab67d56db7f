"""Measures what a recording costs a program, as ratios to the plain run, with their aims.

    python bench/recorder.py [--json] [KIND …]

The kinds are those of `tests/programs/recorded/workloads.py` and `workloads.js`: many calls, many
lines, many objects, a parser, a library. Each is recorded as the questions do: `path`, `diff`,
`calls`, `why` and `probe` of Python, and the counts of Node. Plain and recorded runs are measured
in turns, so that what else the machine does falls on both.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from debugger.recorders.model import (
    FunctionPlace,
    LineRecording,
    OriginOrder,
    ProbeOrder,
    RecordingLimits,
)
from debugger.recorders.node.node_recorder import NodeRecorder
from debugger.recorders.recorded_process import record_run
from recording.recorders import PROGRAMS, PYTHONS, run_plain, run_recorded

PYTHON_AIM, NODE_AIM = 3.0, 1.5
ROUNDS = 3
_OLDEST = 11  # the minor version of the oldest Python that is measured
_PROBED = 69  # where `kind` is known
_ORDERS: Mapping[str, Mapping[str, object]] = {
    "path": {"lines": LineRecording.HIT},
    "diff": {
        "lines": LineRecording.EACH,
        "line_depth": 1_000,
        "limits": RecordingLimits(each=200, lines=400, text=240),
    },
    "calls": {"functions": (FunctionPlace("classify"),), "lines": LineRecording.EACH},
    # The first run of `why`; the further ones record about as many statements as they have time.
    "why": {"origin": OriginOrder("kind", file="workloads.py", line=_PROBED, nth=-1)},
    "probe": {"probes": (ProbeOrder(("kind",), file="workloads.py", line=_PROBED),)},
}
_KINDS = ("recursion", "loops", "objects", "parser", "library")


def measure_ratio(plain: Callable[[], object], recorded: Callable[[], float]) -> float:
    """Return the time of a recorded run over that of a plain one, each the median of some."""
    alone, with_recorder = [], []
    for _ in range(ROUNDS):
        began = time.monotonic()
        plain()
        alone.append(time.monotonic() - began)
        with_recorder.append(recorded())
    return statistics.median(with_recorder) / statistics.median(alone)


def measure_python(python: str, kind: str, order: str, scratch: Path) -> float:
    """Measure one kind of program with one question's recording."""
    argv = [python, "workloads.py", kind]

    def record() -> float:
        ran = asyncio.run(run_recorded(argv, PROGRAMS, scratch, timeout_s=300.0, **_ORDERS[order]))
        return float(ran.took_s)

    return measure_ratio(lambda: run_plain(argv, PROGRAMS), record)


def measure_node(node: str, kind: str, scratch: Path) -> float:
    """Measure one kind of program with counters in its scripts."""
    argv = [node, "workloads.js", kind]

    def record() -> float:
        ran = asyncio.run(
            record_run(
                argv,
                NodeRecorder([str(PROGRAMS)]),
                cwd=str(PROGRAMS),
                env=dict(os.environ),
                stdin=b"",
                timeout_s=300.0,
                scratch_root=scratch,
            )
        )
        return float(ran.took_s)

    return measure_ratio(lambda: run_plain(argv, PROGRAMS), record)


def main() -> None:
    """Measure the kinds with each Python from 3.11 on, and with Node."""
    kinds = [word for word in sys.argv[1:] if not word.startswith("-")] or list(_KINDS)
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as scratch:
        for name, path in PYTHONS.items():
            for kind in kinds if int(name.partition(".")[2]) >= _OLDEST else ():
                for order in _ORDERS:
                    ratio = measure_python(path, kind, order, Path(scratch))
                    found[f"{name}.{kind}.{order}_ratio"] = round(ratio, 2)
        node = shutil.which("node")
        for kind in kinds if node is not None else ():
            if node is not None:
                found[f"node.{kind}_ratio"] = round(measure_node(node, kind, Path(scratch)), 2)
    if "--json" in sys.argv:
        print(json.dumps(found))
        return
    for key, ratio in found.items():
        aim = NODE_AIM if key.startswith("node") else PYTHON_AIM
        print(f"{key:28} {ratio:6.2f}  aim {aim:g}{'' if ratio <= aim else '  MISSED'}")


if __name__ == "__main__":
    main()
