"""Implements a pytest plugin that records failed tests and their errors. PYTEST_DONT_REWRITE.

The hooks are the outermost ones, so that they see the final outcome of an expected failure. When
tests run again for one of them, only the needed ones are collected, in this one process, and no
report file of the user's own run is overwritten.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

book: Any = globals()["book"]
_VERSION = int(str(vars(sys.modules["_pytest"])["__version__"]).partition(".")[0])
_PATHS = 7  # the version from which on a collected path is a pathlib.Path
# Options of reports and of what distributes tests, by what they are when not given.
_OPTIONS: dict[str, Any] = {
    "xmlpath": None,
    "htmlpath": None,
    "json_report": False,
    "report_log": None,
    "cov_source": None,
    "numprocesses": None,
    "dist": "no",
    "tx": [],
    "looponfail": False,
    "maxfail": 0,
    "stepwise": False,
    "count": 1,
}


def _pytest_hook(**options: bool) -> Callable[[Any], Any]:
    """Mark a hook with options, as pytest's own decorator does."""

    def mark(function: Any) -> Any:
        # pluggy reads the options from this attribute.
        function.pytest_impl = options
        return function

    return mark


def _set_options(options: Any) -> None:
    for name, plain in _OPTIONS.items():
        if hasattr(options, name):
            setattr(options, name, plain)


@_pytest_hook(tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> None:
    """Disable report files early: plugins read their options at this point."""
    if book.is_again:
        _set_options(early_config.known_args_namespace)


@_pytest_hook(tryfirst=True)
def pytest_cmdline_main(config: Any) -> None:
    """Disable report files, and test distribution to other processes."""
    if book.is_again:
        _set_options(config.option)


def _is_needed(path: Any) -> bool:
    text = str(path)
    return any(text.endswith(f"/{name.partition('::')[0]}") for name in book.only)


# Before version 7 the hook's argument has another name, and pluggy rejects unknown ones.
if book.is_again and _VERSION >= _PATHS:

    @_pytest_hook(tryfirst=True)
    def pytest_ignore_collect(collection_path: Any) -> Any:
        """Skip files without a requested test."""
        is_other = collection_path.suffix == ".py" and collection_path.name != "__init__.py"
        return True if is_other and not _is_needed(collection_path) else None


@_pytest_hook(hookwrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[Any]) -> Generator[None, Any, None]:
    """Keep the requested tests, in the order of the first run."""
    # All other plugins reorder and deselect first.
    yield
    if book.is_again:
        selected = [one for one in items if one.nodeid in book.only]
        items[:] = sorted(selected, key=lambda one: book.only[one.nodeid])


@_pytest_hook(hookwrapper=True, trylast=True)
def pytest_runtest_setup(item: Any) -> Generator[None, Any, None]:
    """Trace the fixtures and the setup methods of the test."""
    book.enter_setup(item.nodeid)
    try:
        yield
    finally:
        book.leave_setup(item.nodeid)


@_pytest_hook(hookwrapper=True, trylast=True)
def pytest_runtest_call(item: Any) -> Generator[None, Any, None]:
    """Trace the test itself, as the innermost hook, without other plugins' hooks around it."""
    book.enter(item.nodeid)
    try:
        yield
    finally:
        book.leave()


@_pytest_hook(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    """Record a failed test."""
    outcome = yield
    report = outcome.get_result()
    if not report.failed:
        return
    if call.excinfo is not None:
        book.failed("pytest", item.nodeid, call.when, call.excinfo.value)
    elif type(report.longrepr) is str:
        # A strict xfail that passes: there is no exception.
        book.failed("pytest", item.nodeid, call.when, AssertionError(report.longrepr))


@_pytest_hook(tryfirst=True)
def pytest_exception_interact(node: Any, call: Any, report: Any) -> None:
    """Record a file that could not be collected."""
    if type(report).__name__ == "CollectReport" and call.excinfo is not None:
        error = call.excinfo.value
        cause = error.__cause__ if type(error).__name__ == "CollectError" else None
        book.failed("pytest", node.nodeid, "collect", cause or error)
