"""Gives the tests of the page a browser, and what they check in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from browser_client import Browser, open_browser
from left_out import leave_out

AXE = (
    Path(__file__).parents[2] / ".cache" / "conformance" / "node_modules" / "axe-core"
) / "axe.min.js"


def require(path: str | Path | None, name: str, how: str) -> str:
    """Give a path; without it skip the test, or fail it where CI is set."""
    if path is None or not Path(path).exists():
        leave_out(f"{name} is missing ({how})")
    return str(path)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Give a browser to all tests of the page."""
    require(shutil.which("chromium"), "chromium", "make tools")
    driver = require(shutil.which("chromedriver"), "chromedriver", "make tools")
    with open_browser(driver) as found:
        found.set_view(1400, 900)
        yield found


@pytest.fixture(scope="session")
def check_with_axe() -> Callable[[Browser], None]:
    """Give the check of the page as it is now by axe-core: no serious finding."""
    axe = Path(require(AXE, "axe-core", "make judges")).read_text()

    def check(browser: Browser) -> None:
        if not browser.run("return 'axe' in window"):
            browser.run(axe)
        found = browser.run("return axe.run(document, {resultTypes: ['violations']})")
        serious = [
            (one["id"], [node["html"][:200] for node in one["nodes"]])
            for one in found["violations"]
            if one["impact"] in {"serious", "critical", "moderate"}
        ]
        assert serious == []

    return check
