"""The memory that tests of expressions share."""

from __future__ import annotations

import pytest

from expression_cases import sample_memory
from expression_runner import ExpressionMemory


@pytest.fixture
def expression_memory() -> ExpressionMemory:
    return sample_memory()
