"""What is taken where a call does not say: defaults, their order, and which exclude each other.

Pure. What the call says comes first, then the session's defaults, the configuration, the
environment. Empty strings and null count as not given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

Pair = tuple[str, str]

# The arguments of XcodeBuildMCP's tools that have defaults, and where they may be set for good.
SETTINGS: Final[Mapping[str, str]] = {
    "simulatorId": "simulator.id",
    "simulatorName": "simulator.name",
    "bundleId": "simulator.bundle_id",
}
VARIABLES: Final[Mapping[str, str]] = {
    "simulatorId": "XCODEBUILDMCP_SIMULATOR_ID",
    "simulatorName": "XCODEBUILDMCP_SIMULATOR_NAME",
    "bundleId": "XCODEBUILDMCP_BUNDLE_ID",
}
SIMULATOR: Final[Pair] = ("simulatorId", "simulatorName")
TARGET: Final[Pair] = ("bundleId", "pid")


def given_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what counts as not given."""
    return {name: value for name, value in arguments.items() if value is not None and value != ""}


def find_conflict(arguments: Mapping[str, Any], pairs: Iterable[Pair]) -> str | None:
    """Say which two arguments exclude each other; None if none do."""
    named = given_arguments(arguments)
    for first, second in pairs:
        if first in named and second in named:
            return f"{first} and {second} are mutually exclusive. Provide only one."
    return None


def merge_defaults(
    explicit: Mapping[str, Any], layers: Sequence[Mapping[str, Any]], pairs: Iterable[Pair]
) -> dict[str, Any]:
    """Fill in what a call did not say from layers of defaults, the strongest first.

    A member of an exclusive pair that a stronger layer gives drops the other one's default; of two
    that one layer gives the pair's first is kept.
    """
    found: dict[str, Any] = {}
    for layer in (explicit, *layers):
        named = given_arguments(layer)
        taken = set(found)
        for first, second in pairs:
            if {first, second} & taken:
                named.pop(first, None)
                named.pop(second, None)
            elif first in named and layer is not explicit:
                named.pop(second, None)
        found |= {name: value for name, value in named.items() if name not in found}
    return found


def change_defaults(
    current: Mapping[str, Any], new: Mapping[str, Any], pairs: Iterable[Pair]
) -> tuple[dict[str, Any], list[str]]:
    """Return defaults with new ones, and what was cleared for them."""
    found, notices = dict(current), []
    for first, second in pairs:
        for set_now, other in ((first, second), (second, first)):
            if set_now in given_arguments(new) and found.pop(other, None) is not None:
                notices.append(f"Cleared {other} because {set_now} was set.")
    return found | given_arguments(new), notices


def explain_missing(arguments: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Say how to give one of several arguments; None if one is there."""
    if any(name in given_arguments(arguments) for name in names):
        return None
    ways = " OR ".join(f'session_set_defaults {{ "{name}": "..." }}' for name in names)
    return f"Provide {' or '.join(names)}\nSet with: {ways}"


def of_settings(settings: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the defaults among the values of the configuration (`config`)."""
    values = {str(one["name"]): one.get("value") for one in settings}
    return given_arguments({name: values.get(setting) for name, setting in SETTINGS.items()})


def of_environment(env: Mapping[str, str]) -> dict[str, Any]:
    """Return the defaults among the variables of the environment."""
    return given_arguments({name: env.get(variable) for name, variable in VARIABLES.items()})
