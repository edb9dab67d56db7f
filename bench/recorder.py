"""Measures what a recording costs a program, as ratios to the plain run, with their aims.

    python bench/recorder.py [--json] [--order ORDER] [--version VERSION] [KIND …]
    python bench/recorder.py [--json] [--order ORDER] --in FOLDER -- PYTHON SCRIPT …

The kinds are those of `tests/programs/recorded/workloads.py` and `workloads.js`: many calls, many
lines, many objects, a parser, a library, generators, exceptions, coroutines, threads; and
`functions`, a short program of many functions of which each is called a few times. Each is
recorded as the questions do: `path`, `diff`, `calls`, `why` and `probe` of Python, and the counts
of Node. The second form records any other program, such as one of `bench/trial.py`. Plain and
recorded runs are measured in turns, so that what else the machine does falls on both. Of Python
the processor's time counts, of the program and its children; of Node the time that passed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from debugger.recorders.model import (
    FunctionPlace,
    LineRecording,
    OriginOrder,
    ProbeOrder,
    RecordingLimits,
    RecordingOrder,
)
from debugger.recorders.node.node_recorder import NodeRecorder
from debugger.recorders.recorded_process import PythonRecorder, record_run, roots_of
from recording.recorders import PROGRAMS, PYTHONS, run_plain

PYTHON_AIM, NODE_AIM = 3.0, 1.5
ROUNDS = 3
_OLDEST = 11  # the minor version of the oldest Python that is measured
_PROBED = 69  # where `kind` is known
_WHOLE = ("path", "diff")  # the orders that name no line of a program
_ORDERS: Mapping[str, Mapping[str, Any]] = {
    "path": {"lines": LineRecording.HIT},
    "diff": {
        "lines": LineRecording.EACH,
        "line_depth": 1_000,
        "is_compared": True,
        "limits": RecordingLimits(each=200, lines=400, text=240),
    },
    "calls": {"functions": (FunctionPlace("classify"),), "lines": LineRecording.EACH},
    # The first run of `why`; the further ones record about as many statements as they have time.
    "why": {"origin": OriginOrder("kind", file="workloads.py", line=_PROBED, nth=-1)},
    "probe": {"probes": (ProbeOrder(("kind",), file="workloads.py", line=_PROBED),)},
}
# `why` records a number of statements first, whatever the program costs; so that runs 2 seconds.
_TIMES: Mapping[str, tuple[str, ...]] = {"why": ("4",)}
_FUNCTIONS = 300  # of the short program, each a class with two methods, and a function
_FUNCTION = """

class Order{0}:
    def __init__(self, number, items):
        self.number = number
        self.items = items
        self.total = 0

    def add(self, item):
        self.items.append(item)
        self.total += item[1]
        return len(self.items)


def fill{0}(number):
    order = Order{0}(number, [])
    for row in range(number % 4 + 2):
        item = (f"item {{row}}", row * number)
        order.add(item)
        if order.total > 1_000:
            order.total -= 7
    rest = [one for one in range(9_000) if one % 3 == row]
    found = {{"order": order, "rest": len(rest)}}
    return found["rest"] + order.total
"""
_CALLS = """

print(sum(fill(number) for number in range(3) for fill in [{}]))
"""
_KINDS = ("recursion", "loops", "objects", "parser", "library")
_PYTHON_KINDS = (*_KINDS, "generators", "exceptions", "coroutines", "threads", "functions")


def measure_ratio(plain: Callable[[], object], recorded: Callable[[], float]) -> float:
    """Return the time of a recorded run over that of a plain one, each the median of some."""
    alone, with_recorder = [], []
    for _ in range(ROUNDS):
        began = time.monotonic()
        plain()
        alone.append(time.monotonic() - began)
        with_recorder.append(recorded())
    return statistics.median(with_recorder) / statistics.median(alone)


def measure_python(argv: Sequence[str], cwd: Path, order: str, scratch: Path) -> float:
    """Measure a program with one question's recording, by the processor's time."""
    roots = roots_of(argv, str(cwd))
    recorder = PythonRecorder(RecordingOrder(roots=roots, **_ORDERS[order]))
    env = {**os.environ, "PYTHONHASHSEED": "0"}

    def record() -> float:
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            return _cpu_seconds(argv, cwd, recorder.recording_environment(env, Path(folder)))

    # The first run may compile its sources.
    _cpu_seconds(argv, cwd, env)
    pairs = [(_cpu_seconds(argv, cwd, env), record()) for _ in range(ROUNDS)]
    plain, recorded = (statistics.median(times) for times in zip(*pairs, strict=True))
    return float(recorded / plain)


def write_functions(folder: Path) -> None:
    """Write a short program of many functions, and a script that imports and runs it."""
    names = ", ".join(f"fill{number}" for number in range(_FUNCTIONS))
    source = "".join(_FUNCTION.format(number) for number in range(_FUNCTIONS))
    (folder / "orders.py").write_text(source + _CALLS.format(names))
    (folder / "main.py").write_text("import orders\n")


def _cpu_seconds(argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    quiet = subprocess.DEVNULL
    subprocess.run(argv, cwd=cwd, env=env, stdin=quiet, stdout=quiet, stderr=quiet, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


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


def measure_kinds(options: argparse.Namespace, scratch: Path) -> Iterator[tuple[str, float]]:
    """Measure the kinds with each Python from 3.11 on, and with Node; a ratio as it is known."""
    pythons = {
        name: path
        for name, path in PYTHONS.items()
        if int(name.partition(".")[2]) >= _OLDEST and options.version in ("", name)
    }
    for name, path in pythons.items():
        for kind in options.kinds or _PYTHON_KINDS:
            argv, folder = [path, "workloads.py", kind], PROGRAMS
            orders = options.order or _ORDERS
            if kind == "functions":
                argv, folder = [path, "main.py"], scratch / "functions"
                orders = [one for one in orders if one in _WHOLE]
                folder.mkdir(exist_ok=True)
                write_functions(folder)
            for order in orders:
                times = _TIMES.get(order, ())
                ratio = measure_python([*argv, *times], folder, order, scratch)
                yield f"{name}.{kind}.{order}_ratio", round(ratio, 2)
    node = shutil.which("node") if not (options.order or options.version) else None
    for kind in options.kinds or _KINDS:
        if node is not None and kind in _KINDS:
            yield f"node.{kind}_ratio", round(measure_node(node, kind, scratch), 2)


def measure_program(options: argparse.Namespace, scratch: Path) -> Iterator[tuple[str, float]]:
    """Measure the program of the command line with each order."""
    folder = options.folder.resolve()
    for order in options.order or _WHOLE:
        ratio = measure_python(options.program, folder, order, scratch)
        yield f"{order}_ratio", round(ratio, 2)


def parse_options(words: Sequence[str]) -> argparse.Namespace:
    """Parse the command line; what stands behind `--` is the program."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", choices=[[], *_PYTHON_KINDS])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--order", action="append", choices=list(_ORDERS))
    parser.add_argument("--version", default="", help="of Python, such as 3.11")
    parser.add_argument("--in", dest="folder", type=Path, default=Path())
    own = list(words)
    program: list[str] = []
    if "--" in own:
        at = own.index("--")
        own, program = own[:at], own[at + 1 :]
    options = parser.parse_args(own)
    options.program = program
    return options


def main() -> None:
    """Measure, and say which aims were missed."""
    options = parse_options(sys.argv[1:])
    measure = measure_program if options.program else measure_kinds
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as scratch:
        for key, ratio in measure(options, Path(scratch)):
            found[key] = ratio
            if not options.json:
                aim = NODE_AIM if key.startswith("node") else PYTHON_AIM
                missed = "" if ratio <= aim else "  MISSED"
                print(f"{key:32} {ratio:6.2f}  aim {aim:g}{missed}", flush=True)
    if options.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
