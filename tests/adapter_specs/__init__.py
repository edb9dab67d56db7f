"""The debuggers that the contract suite runs with.

Each has a module here with a `SPEC`: what it can do, what it cannot, and the programs to show it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from adapter_specs.adapter_spec import AdapterSpec

_MODULES = (
    "fake_spec",
    "lldb_dap",
    "debugpy",
    "delve",
    "gdb",
    "codelldb",
    "js_debug",
    "java",
    "rdbg",
    "xdebug",
    "lldb_cli",
    "frida",
)

SPECS: tuple[AdapterSpec, ...] = tuple(
    importlib.import_module(f"adapter_specs.{name}").SPEC for name in _MODULES
)


def with_specs(specs: Iterable[AdapterSpec]) -> pytest.MarkDecorator:
    """Run a test with each of these specifications, as its argument `adapter_spec`."""
    return pytest.mark.parametrize(
        "adapter_spec", [spec_parameter(adapter_spec) for adapter_spec in specs]
    )


def with_specs_where(holds: Callable[[AdapterSpec], object]) -> pytest.MarkDecorator:
    """Run a test with each specification that this holds for."""
    return with_specs(adapter_spec for adapter_spec in SPECS if holds(adapter_spec))


def spec_parameter(adapter_spec: AdapterSpec) -> Any:
    marks = [pytest.mark.adapter(adapter_spec.name)] if adapter_spec.is_real else []
    return pytest.param(adapter_spec, id=adapter_spec.name, marks=marks)


with_every_spec = with_specs(SPECS)
# The fake's program is imaginary: it reads no input, dies of no signal, is no process.
with_real_specs = with_specs_where(lambda adapter_spec: adapter_spec.is_real)
