"""Installs hooks in pytest and unittest that record failures, when either is imported.

pytest gets a plugin by its own environment variable, which only this process sees; unittest's two
classes are wrapped as soon as they exist. A program that imports neither is left unchanged.
"""

from __future__ import annotations

import _frozen_importlib_external as _loading
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_PLUGIN = "debugger_tests"
_VARIABLE = "PYTEST_PLUGINS"
_HERE: str = os.path.dirname(os.path.abspath(globals()["__file__"]))  # noqa: PTH100, PTH120


def install(book: Any) -> None:
    """Insert our finder into the imports of this process."""
    sys.meta_path.insert(0, _PluginFinder(book))


class ChosenTests:
    """The only tests to run, or all; of their failures the exceptions are passed on alone."""

    def __init__(self, only: list[str], note_failure: Callable[[Any], None] | None = None) -> None:
        self.only: dict[str, int] = {name: at for at, name in enumerate(only)}
        self.is_again = bool(only)
        self.has_begun = False
        self._note_failure = note_failure

    def enter(self, _name: str) -> None:
        """Note that tests run."""
        self.has_begun = True

    def leave(self) -> None:
        """Do nothing when a test ends."""

    def enter_setup(self, name: str) -> None:
        """Do nothing when the setup of a test begins."""

    def leave_setup(self, name: str) -> None:
        """Do nothing when the setup of a test ends."""

    def failed(self, *failure: Any) -> None:
        """Pass on the exception of a failed test, the fourth of what is known of it."""
        if self._note_failure is not None:
            self._note_failure(failure[3])


class _PluginFinder:
    """Finds our plugin, and delays hooks of some modules until their import has ended."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self._after: dict[str, Callable[[Any], None]] = {
            "unittest.case": self._wrap_cases,
            "unittest.result": self._wrap_results,
            "unittest.suite": self._wrap_suites,
        }

    def find_spec(self, name: str, path: Any = None, _target: Any = None) -> Any:
        """Answer the import system: None for every module that is not ours."""
        # pytest reads the variable when it has imported this module.
        if name == "_pytest.config":
            before = os.environ.get(_VARIABLE, "")
            self._set_plugin_variable(f"{before},{_PLUGIN}" if before else _PLUGIN)
        if name == _PLUGIN:
            loader: Any = _PluginLoader(_PLUGIN, os.path.join(_HERE, "pytested.py"))  # noqa: PTH118
            loader.book = self._book
            self._reset_plugin_variable()
            return _loading.spec_from_file_location(name, loader.path, loader=loader)
        act = self._after.pop(name, None)
        if act is None:
            return None
        spec: Any = _loading.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _ActingLoader(spec.loader, act)
        return spec

    def _set_plugin_variable(self, text: str) -> None:
        # Only the dictionary behind os.environ: child processes get what they would have got.
        environ: Any = os.environ
        environ._data[environ.encodekey(_VARIABLE)] = environ.encodevalue(text)  # noqa: SLF001

    def _reset_plugin_variable(self) -> None:
        environ: Any = os.environ
        remaining = os.environ.get(_VARIABLE, "").removesuffix(_PLUGIN).rstrip(",")
        if remaining:
            self._set_plugin_variable(remaining)
        else:
            environ._data.pop(environ.encodekey(_VARIABLE), None)  # noqa: SLF001

    def _wrap_cases(self, module: Any) -> None:
        """Trace each test that a TestCase runs."""
        book, real = self._book, module.TestCase.run

        def run(self: Any, result: Any = None) -> Any:
            book.enter(self.id())
            try:
                return real(self, result)
            finally:
                book.leave()

        module.TestCase.run = _copy_attributes(run, real)

    def _wrap_suites(self, module: Any) -> None:
        """Restrict a suite to the requested tests; nested suites are kept."""
        book, suite = self._book, module.BaseTestSuite
        if not book.is_again:
            return
        real = suite.__iter__

        def chosen(self: Any) -> Any:
            for one in real(self):
                if not hasattr(one, "id") or one.id() in book.only:
                    yield one

        suite.__iter__ = chosen

    def _wrap_results(self, module: Any) -> None:
        """Record each failure that is added to a result."""
        book, kind = self._book, module.TestResult
        for name in ("addFailure", "addError", "addSubTest"):
            real = getattr(kind, name)
            setattr(kind, name, _copy_attributes(_wrap_noting(book, real), real))


def _wrap_noting(book: Any, real: Any) -> Any:
    def wrapper(self: Any, test: Any, *rest: Any) -> Any:
        error = rest[-1] if rest else None
        # addSubTest is called with None for a subtest that passed.
        if error is not None and type(error) is tuple and error[1] is not None:
            subtest = rest[0] if len(rest) > 1 else test
            name = subtest.id() if hasattr(subtest, "id") else str(subtest)
            of = test.id() if hasattr(test, "id") else ""
            book.failed("unittest", name, "call", error[1], of)
        return real(self, test, *rest)

    return wrapper


def _copy_attributes(wrapper: Any, real: Any) -> Any:
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(wrapper, name, getattr(real, name, None))
    return wrapper


class _PluginLoader(_loading.SourceFileLoader):
    """Loads the plugin, which finds its book in its own module."""

    book: Any = None

    def exec_module(self, module: Any) -> None:
        """Execute the plugin's code."""
        module.book = self.book
        super().exec_module(module)


class _ActingLoader:
    """Wraps a module's own loader, to run a function after the module."""

    def __init__(self, loader: Any, act: Callable[[Any], None]) -> None:
        self._loader = loader
        self._act = act

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        """Delegate to the module's own loader."""
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """Execute the module, and then our function."""
        # The program must see the module's own loader.
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._act(module)
