"""Defines what one machine must know of a question about ranks on several."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from debugger.model.command_registry import Option, OptionGroup, Parameter


class JobPart(Struct, frozen=True):
    """The part of one machine in a question about a launcher's ranks on several."""

    # The name by which what the launcher runs on other hosts finds the question; "": it is alone.
    name: str = ""
    # On another host: what the launcher runs there in the place of its own command.
    shell: str = ""


ALONE = JobPart()


def _build_part(command: str, **given: Any) -> JobPart:
    del command
    return JobPart(name=given["part"], shell=given["shell"])


JOB_PART = OptionGroup(
    (
        Parameter("part", str, "", Option("--part", help="given by the daemon", is_hidden=True)),
        Parameter("shell", str, "", Option("--shell", help="given by the daemon", is_hidden=True)),
    ),
    _build_part,
)
