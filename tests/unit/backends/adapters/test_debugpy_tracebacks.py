"""The debugger's own frames are taken out of the tracebacks of a program under debugpy."""

from __future__ import annotations

import traceback
from types import TracebackType
from typing import Any

import pytest

from debugger.backends.adapters.debugpy import server

_PYDEVD = "/x/site-packages/debugpy/_vendored/pydevd/pydevd.py"
_COMPILED = "_pydevd_bundle/pydevd_cython.pyx"
_OWN = "/work/rec.py"


def _function(file: str, name: str, body: str, **names: Any) -> Any:
    """Make a function of a file that is not there."""
    scope: dict[str, Any] = dict(names)
    exec(compile(f"def {name}():\n  {body}\n", file, "exec"), scope)
    return scope[name]


def _raised(call: Any) -> BaseException:
    with pytest.raises(BaseException) as found:  # noqa: PT011 - whatever it is
        call()
    error = found.value
    error.__traceback__ = error.__traceback__.tb_next if error.__traceback__ else None
    return error


def _frames(trace: TracebackType | None) -> list[str]:
    return [one.name for one in traceback.extract_tb(trace)]


@pytest.mark.parametrize("file", [_PYDEVD, _COMPILED])
def test_frames_of_the_debugger_at_a_tracebacks_end_are_cut_off(file: str) -> None:
    inner = _function(_PYDEVD, "normcase", "raise RecursionError('too deep')")
    traced = _function(file, "__call__", "inner()", inner=inner)
    error = _raised(_function(_OWN, "depth", "traced()", traced=traced))
    assert _frames(error.__traceback__) == ["depth", "__call__", "normcase"]
    last = server.cut_traceback(error, error.__traceback__)
    assert last is not None
    assert last.tb_frame.f_code.co_name == "depth"
    assert _frames(error.__traceback__) == ["depth"]


def test_what_the_debugger_calls_at_a_recursions_limit_is_cut_off_with_it() -> None:
    library = _function("/usr/lib/python3.12/posixpath.py", "basename", "raise RecursionError('x')")
    traced = _function(_PYDEVD, "trace_dispatch", "library()", library=library)
    program = _function(_OWN, "depth", "traced()", traced=traced)
    runs = _function(_PYDEVD, "run_path", "program()", program=program)
    error = _raised(runs)
    assert server.cut_traceback(error, error.__traceback__) is not None
    assert _frames(error.__traceback__) == ["run_path", "depth"]


def test_a_traceback_without_the_debugger_or_of_it_alone_stays() -> None:
    own = _raised(_function(_OWN, "depth", "raise ValueError('bad')"))
    assert server.cut_traceback(own, own.__traceback__) is None
    assert _frames(own.__traceback__) == ["depth"]
    alone = _raised(_function(_PYDEVD, "main", "raise ValueError('bad')"))
    assert server.cut_traceback(alone, alone.__traceback__) is None


def test_frames_amid_a_traceback_stay() -> None:
    own = _function(_OWN, "callback", "raise ValueError('bad')")
    middle = _function(_PYDEVD, "new_spawn", "own()", own=own)
    error = _raised(_function(_OWN, "main", "middle()", middle=middle))
    assert server.cut_traceback(error, error.__traceback__) is None


def test_what_the_debugger_raised_and_caught_led_to_nothing() -> None:
    error, cause = ValueError("bad"), OSError("no file")
    error.__context__ = _raised(_function(_COMPILED, "__call__", "raise KeyError('rec.py')"))
    error.__context__.__context__ = cause
    server.clean_chain(error)
    assert error.__context__ is cause


def test_causes_lose_the_debuggers_frames_too() -> None:
    traced = _function(_COMPILED, "__call__", "raise RecursionError('too deep')")
    error = ValueError("bad")
    error.__cause__ = cause = _raised(_function(_OWN, "depth", "traced()", traced=traced))
    server.clean_chain(error)
    assert _frames(cause.__traceback__) == ["depth"]


def test_a_traceback_that_python_prints_begins_with_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = server.__file__
    monkeypatch.delattr(server, "__file__")  # as Python 3.14 does before sys.excepthook
    program = _function(_OWN, "main", "raise ValueError('bad')")
    runs = _function(_PYDEVD, "run_path", "program()", program=program)
    error = _raised(_function(file, "main", "runs()", runs=runs))
    assert _frames(server.drop_outer_frames(error.__traceback__)) == ["main"]
    own = _raised(program)
    assert server.drop_outer_frames(own.__traceback__) is own.__traceback__
