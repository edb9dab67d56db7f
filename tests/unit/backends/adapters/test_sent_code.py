"""Functions that cloudpickle sends keep their files, so that breakpoints are met in workers."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

import pytest

from debugger.backends.adapters.debugpy import sent_code

# As cloudpickle 3.1.3 does it.
PICKLER = """
import types

def _code_reduce(obj):
    return types.CodeType, (obj.co_argcount, "<dynamic-code>", obj.co_name)

class CloudPickler:
    _dispatch_table = {types.CodeType: _code_reduce}
"""


@pytest.fixture
def finder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for folder in ("cloudpickle", "own/cloudpickle"):
        package = tmp_path / folder
        package.mkdir(parents=True)
        package.joinpath("__init__.py").touch()
        package.joinpath("cloudpickle.py").write_text(PICKLER)
    monkeypatch.syspath_prepend(str(tmp_path))
    known, finders = set(sys.modules), list(sys.meta_path)
    sent_code.keep_sent_files()
    yield
    sys.meta_path[:] = finders
    for name in set(sys.modules) - known:
        del sys.modules[name]


@pytest.mark.parametrize("name", ["cloudpickle.cloudpickle", "own.cloudpickle.cloudpickle"])
def test_code_is_sent_with_its_file(finder: None, name: str) -> None:
    reduce = importlib.import_module(name).CloudPickler._dispatch_table[types.CodeType]
    code = test_code_is_sent_with_its_file.__code__
    assert reduce(code) == (types.CodeType, (2, __file__, code.co_name))
    typed = compile("1", "<stdin>", "eval")
    assert reduce(typed)[1][1] == "<stdin>"


def test_the_finder_is_installed_once_and_other_modules_are_not_its_own(finder: None) -> None:
    sent_code.keep_sent_files()
    mine = [one for one in sys.meta_path if isinstance(one, sent_code.PicklerFinder)]
    assert len(mine) == 1
    assert mine[0].find_spec("json") is None


def test_a_pickler_of_another_version_is_left_as_it_is() -> None:
    module = types.SimpleNamespace(_code_reduce=None, CloudPickler=types.SimpleNamespace())
    sent_code.change_pickler(module)
    assert not hasattr(module.CloudPickler, "_dispatch_table")
