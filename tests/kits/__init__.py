"""The debuggers that the contract suite runs with.

Each has a module here with a `KIT`: what it can do, what it cannot, and the programs to show it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from kits.kit import Kit

_MODULES = (
    "fake",
    "lldb_dap",
    "debugpy",
    "delve",
    "gdb",
    "codelldb",
    "js_debug",
    "lldb_cli",
    "frida",
)

KITS: tuple[Kit, ...] = tuple(importlib.import_module(f"kits.{name}").KIT for name in _MODULES)


def of(kits: Iterable[Kit]) -> pytest.MarkDecorator:
    """Run a test with each of these kits, as its argument `kit`."""
    return pytest.mark.parametrize("kit", [_param(kit) for kit in kits])


def where(holds: Callable[[Kit], object]) -> pytest.MarkDecorator:
    """Run a test with each kit that this holds for."""
    return of(kit for kit in KITS if holds(kit))


def _param(kit: Kit) -> Any:
    marks = [pytest.mark.adapter(kit.name)] if kit.is_real else []
    return pytest.param(kit, id=kit.name, marks=marks)


every_kit = of(KITS)
# The fake's program is imaginary: it reads no input, dies of no signal, is no process.
real_kits = where(lambda kit: kit.is_real)
