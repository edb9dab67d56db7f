"""Fixtures of the engine's live tests, and what they need."""

from __future__ import annotations

import asyncio
import importlib.util
import platform
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from left_out import leave_out


def _is_here(name: str) -> bool:
    spec = importlib.util.find_spec(name)
    # This folder has Frida's name, and would pass for a package without files.
    return spec is not None and spec.origin is not None


@pytest.fixture(autouse=True)
def frida_is_here():
    """Skip where the engine cannot be, and fail in CI where it should be."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        pytest.skip("the engine is for Linux on x86-64")
    for name in ("frida", "capstone"):
        if not _is_here(name):
            leave_out(f"{name} is missing")


@pytest.fixture
async def start_engine(tmp_path: Path) -> AsyncIterator[object]:
    from live_engine import EngineStarter  # which imports what may be missing

    async with asyncio.TaskGroup() as tasks:
        starter = EngineStarter(tasks, tmp_path)
        try:
            yield starter
        finally:
            for live in starter.started:
                await live.engine.end_program()
