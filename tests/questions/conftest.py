"""Fixtures for tests of questions: small programs, running programs, npm packages."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from left_out import leave_out

_BUILD_S = 60.0
_PACKAGES = Path(__file__).parents[2] / ".cache" / "conformance" / "node_modules"


@pytest.fixture(scope="session")
def compile_program(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return what builds a C source, as `prog.c` of a folder of its own, or `name`."""

    def build(text: str, *options: str, name: str = "prog") -> Path:
        folder = tmp_path_factory.mktemp(name)
        source = folder / f"{name}.c"
        source.write_text(text)
        words = ["gcc", "-g", "-O0", "-w", *options, "-o", str(folder / name), str(source)]
        subprocess.run(words, check=True, timeout=_BUILD_S)
        return folder / name

    return build


@pytest.fixture
def packages() -> Path:
    """Return the folder of npm's packages that has jest and vitest."""
    missing = [name for name in ("jest", "vitest") if not (_PACKAGES / name).is_dir()]
    if missing:
        leave_out(f"{missing[0]} is missing (make judges)")
    return _PACKAGES


@pytest.fixture
def start_idle_program() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Return what starts a program that says `here` and goes on; it is ended with the test."""
    with ExitStack() as ending:

        def begin(*words: object) -> subprocess.Popen[bytes]:
            process = subprocess.Popen([*map(str, words)], stdout=subprocess.PIPE)
            ending.callback(process.communicate)
            ending.callback(process.kill)
            assert process.stdout is not None
            assert process.stdout.readline() == b"here\n"
            return process

        yield begin
