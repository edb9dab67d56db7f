"""Which tests of pytest fail, and by what? A plugin. PYTEST_DONT_REWRITE.

Its hooks are the outermost, so that what an expected failure becomes is known.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

book: Any = globals()["book"]


def _hook(**options: bool) -> Callable[[Any], Any]:
    """Mark a hook as pytest's own decorator does, without importing pytest."""

    def mark(function: Any) -> Any:
        function.pytest_impl = options
        return function

    return mark


@_hook(hookwrapper=True, trylast=True)
def pytest_runtest_call(item: Any) -> Generator[None, Any, None]:
    """Trace the test itself, innermost: what other plugins do around it is not of it."""
    book.enter(item.nodeid)
    try:
        yield
    finally:
        book.leave()


@_hook(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    """Note a test that failed."""
    outcome = yield
    report = outcome.get_result()
    if report.failed and call.excinfo is not None:
        book.failed("pytest", item.nodeid, call.when, call.excinfo.value)


@_hook(tryfirst=True)
def pytest_exception_interact(node: Any, call: Any, report: Any) -> None:
    """Note a file that could not be collected."""
    if type(report).__name__ == "CollectReport" and call.excinfo is not None:
        error = call.excinfo.value
        told = error.__cause__ if type(error).__name__ == "CollectError" else None
        book.failed("pytest", node.nodeid, "collect", told or error)
