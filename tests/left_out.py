"""Leaves a test out where this machine lacks what it needs."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def leave_out(reason: str) -> NoReturn:
    """Skip the test, or fail it where CI is set: there all must be installed."""
    if os.environ.get("CI", "").lower() not in ("", "0", "false"):
        pytest.fail(f"CI must have it: {reason}", pytrace=False)
    pytest.skip(reason)
