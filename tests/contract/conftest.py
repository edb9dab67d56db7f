"""Builds the backend of an adapter's specification for the contract suite."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debugger.backends import select_backend
from kits.kit import Kit
from live import driven


@pytest.fixture
def drive(runtime_dir: Path) -> Callable[[Kit], Any]:
    """Make a kit's backend, which ends with the block."""

    def make(kit: Kit) -> Any:
        found = select_backend.find_adapter(kit.profile, os.environ, {})
        return driven(kit.profile, found, runtime_dir / "scratch")

    return make
