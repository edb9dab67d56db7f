"""Parses a test runner's closing line. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from debugger.model.text_clip import clip_text

_LONGEST = 200
_SGR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PYTEST = re.compile(
    r"=*\s*(?P<said>(?:no tests (?:ran|collected)|\d+ (?:failed|passed|errors?|skipped|deselected|"
    r"xfailed|xpassed|warnings?|tests? collected))\b.* in [\d.]+s.*?)\s*=*$"
)
_UNITTEST = re.compile(r"(?P<said>Ran \d+ tests? in .*s)$")
_VERDICT = re.compile(r"(?P<said>(?:OK|FAILED|NO TESTS RAN)(?: \(.*\))?)$")
_NOTHING = re.compile(
    r"no tests (?:ran|collected)|Ran 0 tests|NO TESTS RAN|ERROR: (?:file or directory )?not found"
    r"|collected 0 items|found no collectors"
)


def without_colours(lines: Sequence[str]) -> list[str]:
    """Return lines without colours."""
    return [_SGR.sub("", line).rstrip() for line in lines]


def of_python(lines: Sequence[str]) -> str:
    """Return what pytest, or unittest, says of a whole run; nothing where it has not."""
    told = ""
    for line in reversed(without_colours(lines)):
        pytest = _PYTEST.match(line)
        if pytest:
            return clip_text(pytest["said"], _LONGEST)
        verdict, ran = _VERDICT.match(line), _UNITTEST.match(line)
        if verdict and not told:
            told = verdict["said"]
        if ran:
            return clip_text(f"{ran['said']}: {told}" if told else ran["said"], _LONGEST)
    return ""


def ran_nothing(lines: Sequence[str]) -> bool:
    """Tell whether there was no test to run."""
    return any(_NOTHING.search(line) for line in without_colours(lines))
