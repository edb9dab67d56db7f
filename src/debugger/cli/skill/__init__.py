"""Holds the skill, a description of the command line for agents, and installs it.

`SKILL.md` is the page that an agent reads first; `questions/` holds a page of examples for each
question.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

from debugger.cli import situations
from debugger.errors import DebuggerError, ErrorCode

NAME: Final = "debugger"
FILE: Final = "SKILL.md"
_PATH = Path(__file__).with_name(FILE)
_PAGES = _PATH.with_name("questions")
# What is looked for by the name of a fault, and the page that answers it.
_FAULTS: Final = {
    "crash": "core exception panic segfault uaf use-after-free freed double-free overflow",
    "hang": "deadlock livelock loop lock stuck slow timeout",
    "path": "regression bisect coverage trace",
    "probe": "log print value stage stages pipeline logpoint",
    "session": "start breakpoint break step attach debug",
    "test": "pytest unittest fail failing failure assertion",
    "who-wrote": "race races data-race watch watchpoint corruption overwrite overwritten",
    "why": "wrong wrong-value origin provenance",
}


def show_or_install(*, question: str | None, show: bool, install: str | None) -> str:
    """Return the skill or its page of a question, or install the skill and name the file.

    Raises:
        DebuggerError: USAGE for an unknown question or for two requests at once, DENIED for a file
            that is not ours or a folder that cannot be written to.
    """
    if install is None:
        return skill_text() if question is None else question_page(question)
    if question is not None:
        raise DebuggerError(
            ErrorCode.USAGE, "--install installs the whole skill", hint="debugger skill --help"
        )
    if show:
        raise DebuggerError(ErrorCode.USAGE, "--print or --install?", hint="debugger skill --help")
    return f"installed {install_skill(Path(install).expanduser())}\n"


def skill_text() -> str:
    """Return the skill."""
    text = _PATH.read_text(encoding="utf-8")
    return text.replace("<situations>", situations.list_as_markdown())


def question_names() -> tuple[str, ...]:
    """Return the names of the questions that have a page, sorted."""
    return tuple(sorted(path.stem for path in _PAGES.glob("*.md")))


def question_page(name: str) -> str:
    """Return the page of a question.

    Raises:
        DebuggerError: USAGE for a question without a page.
    """
    names = question_names()
    fault = name.lower().replace("_", "-").replace(" ", "-")
    name = next((page for page, words in _FAULTS.items() if fault in words.split()), name)
    if name not in names:
        named = [one for one in names if one in re.findall(r"[\w-]+", name.lower())]
        near = named or difflib.get_close_matches(name, names, 1)
        raise DebuggerError(
            ErrorCode.USAGE,
            f"no page about {name}; there is one about {', '.join(names)}",
            hint="; ".join(f"debugger skill {one}" for one in near) or "debugger skill",
        )
    return (_PAGES / f"{name}.md").read_text(encoding="utf-8")


def find_example(names: Collection[str]) -> str | None:
    """Return a command line of the pages that begins with one of a command's names."""
    for page in question_names():
        for line in question_page(page).splitlines():
            first, *others = line.split() or [""]
            if first == NAME and others and others[0] in names:
                return line
    return None


def install_skill(folder: Path) -> Path:
    """Write the skill into a subfolder of a folder of skills, replacing an earlier version.

    Raises:
        DebuggerError: DENIED for an existing file that is not ours, or that cannot be written.
    """
    path = folder / NAME / FILE
    try:
        if path.exists() and not _is_ours(path):
            raise DebuggerError(
                ErrorCode.DENIED, f"{path} is another skill", hint="debugger skill --install DIR"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{FILE}.new")
        new.write_text(skill_text(), encoding="utf-8")
        os.replace(new, path)
    except OSError as error:
        raise DebuggerError(
            ErrorCode.DENIED,
            f"cannot write {path}: {error.strerror}",
            hint="debugger skill --print shows it",
        ) from error
    return path


def _is_ours(path: Path) -> bool:
    return f"\nname: {NAME}\n" in path.read_text(encoding="utf-8", errors="replace")
