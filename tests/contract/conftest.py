"""Builds the backend of an adapter's specification for the contract suite."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapter_specs.adapter_spec import AdapterSpec
from debugger.backends import select_backend
from driven_backend import drive_adapter


@pytest.fixture
def drive_backend(runtime_dir: Path) -> Callable[[AdapterSpec], Any]:
    """Make a specification's backend, which ends with the block."""

    def make(adapter_spec: AdapterSpec) -> Any:
        found = select_backend.find_adapter(adapter_spec.debug_adapter, os.environ, {})
        return drive_adapter(adapter_spec.debug_adapter, found, runtime_dir / "scratch")

    return make
