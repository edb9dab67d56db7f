"""How long does each command take with each adapter, and how much of that is ours?

    python bench/commands.py [ADAPTER…]

The daemon's handler runs here, so that what waits for the adapter can be told from what works: for
each command the median of its whole time, and of the part that no request to the adapter was open.
The programs are those of the contract suite.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from adapter_specs import SPECS  # noqa: E402
from adapter_specs.adapter_spec import AdapterSpec  # noqa: E402
from debugger.backends.dap.dap_client import DapClient  # noqa: E402 - after the path
from driven_backend import DaemonStack, open_stack  # noqa: E402

TIMES = 30


class Waiting:
    """The time during which a request to an adapter was open."""

    def __init__(self) -> None:
        self.open = 0
        self.since = 0.0
        self.total = 0.0

    def begin(self) -> None:
        """Note a request that was sent."""
        if not self.open:
            self.since = time.perf_counter()
        self.open += 1

    def end(self, _: object = None) -> None:
        """Note its response."""
        self.open -= 1
        if not self.open:
            self.total += time.perf_counter() - self.since


WAITING = Waiting()


def _watch_requests() -> None:
    post = DapClient.post_request

    def watched(self: DapClient, command: str, arguments: Any) -> asyncio.Future[Any]:
        response = post(self, command, arguments)
        WAITING.begin()
        response.add_done_callback(WAITING.end)
        return response

    DapClient.post_request = watched  # type: ignore[method-assign]


def commands(spec: AdapterSpec) -> Mapping[str, list[str]]:
    """Return the commands that are measured, at a stop in the loop's inner function."""
    return {
        "context": ["context"],
        "backtrace": ["backtrace"],
        "locals": ["locals"],
        "print": ["print", spec.variable],
        "set": ["set", spec.variable, str(spec.first)],
        "threads": ["threads"],
        "break": ["break", f"{spec.file}:{spec.call_line}"],
        "registers": ["registers"],
        "disassemble": ["disassemble", "--count", "10"],
        "modules": ["modules"],
    }


async def measure(one: DaemonStack, words: list[str]) -> tuple[float, float] | str:
    """Return the medians of the whole time and of ours, in milliseconds; or why it cannot be."""
    whole: list[float] = []
    ours: list[float] = []
    for _ in range(TIMES):
        before, begun = WAITING.total, time.perf_counter()
        reply = await one(*words)
        taken = time.perf_counter() - begun
        if reply.error is not None:
            return str(reply.error.code.value)
        whole.append(taken * 1000)
        ours.append((taken - (WAITING.total - before)) * 1000)
    return statistics.median(whole), statistics.median(ours)


@asynccontextmanager
async def started(spec: AdapterSpec, folder: Path) -> AsyncIterator[DaemonStack]:
    """Start the spec's loop, stopped in its inner function."""
    program = spec.loop().program
    assert program is not None
    async with open_stack(folder, folder / "none.toml") as one:
        place = f"{spec.file}:{spec.stop_line}"
        await one.data("start", program, *spec.words, "--break", place)
        yield one


async def main() -> None:
    """Measure the adapters that are named, or all that are here, and print a table."""
    _watch_requests()
    wanted = set(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as name:
        os.environ["DEBUGGER_RUNTIME_DIR"] = name
        print(f"{'adapter':10} {'command':14} {'ms':>8} {'ours':>8}")
        for spec in SPECS:
            if not spec.is_real or (wanted and spec.name not in wanted):
                continue
            async with started(spec, Path(name)) as one:
                for command, words in commands(spec).items():
                    found = await measure(one, words)
                    if isinstance(found, str):
                        print(f"{spec.name:10} {command:14} {found:>17}")
                        continue
                    # Only what is asked by the protocol is told apart from what is ours.
                    ours = f"{found[1]:8.2f}" if spec.backend == "dap" else f"{'-':>8}"
                    print(f"{spec.name:10} {command:14} {found[0]:8.2f} {ours}")


if __name__ == "__main__":
    asyncio.run(main())
