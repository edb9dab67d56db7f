"""The memory that tests of expressions share."""

from __future__ import annotations

import pytest

from expressing import Memory
from expressing_cases import memory


@pytest.fixture
def held() -> Memory:
    return memory()
