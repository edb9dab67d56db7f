"""Defines the options of a command for a group, and of one machine's part of a job."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Struct

from debugger.model.command_registry import Option, OptionGroup, Parameter


class GroupChoice(Struct, frozen=True):
    """The options that make a command one of a group."""

    group: str | None = None
    members: str | None = None


def _build_choice(_command: str, **given: Any) -> GroupChoice:
    return GroupChoice(**given)


_CHOICE_OPTIONS = OptionGroup(
    (
        Parameter(
            "group",
            str | None,
            None,
            Option("--group", help="of all members of this group", metavar="NAME"),
        ),
        Parameter(
            "members",
            str | None,
            None,
            Option("--members", help="of these members: 0-3,7, LABEL, gw*, 'not 2'", metavar="SET"),
        ),
    ),
    _build_choice,
)
GroupOptions = Annotated[GroupChoice, _CHOICE_OPTIONS]
NO_CHOICE = GroupChoice()


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
