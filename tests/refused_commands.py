"""Checks what must be true of every refused command."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any


def check_refused(
    cli: Callable[..., Any],
    *words: str | os.PathLike[str],
    exit: int,  # noqa: A002 - as in the answers of `cli`
    code: str,
    says: str | tuple[str, ...] = (),
    hint: str = "",
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
) -> None:
    """Run a command as text and as JSON: both must refuse it alike, and in the contract's form."""
    told = cli(*words, cwd=cwd, env=env, check=exit)
    assert told.out == "", str(told)
    assert told.err.startswith("error: "), str(told)
    message, mark, advice = told.err.removeprefix("error: ").rpartition("\nhint: ")
    assert mark, f"no hint: {told}"
    assert advice.strip(), f"an empty hint: {told}"
    assert hint in advice, str(told)
    for part in (says,) if isinstance(says, str) else says:
        assert part in message, str(told)
    coded = cli("--json", *words, cwd=cwd, env=env, check=exit)
    assert coded.err == "", str(coded)
    assert coded.data["ok"] is False
    assert set(coded.data) == {"ok", "error"}
    error = coded.data["error"]
    assert (error["code"], error["hint"]) == (code, advice.rstrip("\n")), str(coded)
    assert error["message"], str(coded)
