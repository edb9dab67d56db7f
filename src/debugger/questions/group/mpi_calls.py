"""Reads whom a call of MPI sends to or receives from: its line in the source, and its frame."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping

from msgspec import Struct

# By the function's name: which argument is which, as in the MPI standard's C bindings.
_SEND = {"to": 3, "tag": 4, "comm": 5}
_RECEIVE = {"from": 3, "tag": 4, "comm": 5}
_TO_ROOT, _TO_ROOT_BY_COUNTS = {"root": 6, "comm": 7}, {"root": 7, "comm": 8}
_ALL, _PAIRS, _PAIRS_BY_COUNTS = {"comm": 5}, {"comm": 6}, {"comm": 8}
_PROBE = {"from": 0, "tag": 1, "comm": 2}
_ROLES: Mapping[str, Mapping[str, int]] = {
    **dict.fromkeys(("send", "ssend", "bsend", "rsend"), _SEND),
    "recv": _RECEIVE,
    **dict.fromkeys(("probe", "mprobe"), _PROBE),
    "sendrecv": {"to": 3, "tag": 4, "from": 8, "tag of what comes": 9, "comm": 10},
    "bcast": {"root": 3, "comm": 4},
    "reduce": {"root": 5, "comm": 6},
    **dict.fromkeys(("gather", "scatter"), _TO_ROOT),
    **dict.fromkeys(("gatherv", "scatterv"), _TO_ROOT_BY_COUNTS),
    "barrier": {"comm": 0},
    **dict.fromkeys(
        ("allreduce", "scan", "exscan", "reduce_scatter", "reduce_scatter_block"), _ALL
    ),
    **dict.fromkeys(("allgather", "alltoall"), _PAIRS),
    "allgatherv": {"comm": 7},
    **dict.fromkeys(("alltoallv", "alltoallw"), _PAIRS_BY_COUNTS),
}
_CALL = re.compile(r"\bP?MPI_(\w+)\s*\(")
_ANY = {"MPI_ANY_SOURCE": "any rank", "MPI_ANY_TAG": "any", "MPI_PROC_NULL": "no rank"}
_WORLD = "MPI_COMM_WORLD"
_EXPRESSION_MAX = 80
# Of Open MPI a communicator is an address, of all ranks that of this object; of MPICH a number.
_OPEN_MPI_WORLD = "&ompi_mpi_comm_world"
_MPICH_WORLD = str(0x44000000)
_ADDRESS = re.compile(r"0x[0-9a-f]+")

Evaluate = Callable[[str], Awaitable[str | None]]


class MpiCall(Struct, frozen=True):
    """Whom a call of MPI is for: `to 1, tag 7`; and the rank without which it cannot end."""

    text: str = ""
    # A rank of MPI_COMM_WORLD; None where any, or one of another communicator, can end it.
    awaited: int | None = None
    # The communicator as the source names it, "" for MPI_COMM_WORLD or an unknown one.
    communicator: str = ""


def find_arguments(text: str, function: str) -> dict[str, str]:
    """Return the arguments of a call in a statement, by what they are for; nothing if it has none.

    Args:
        text: The statement.
        function: The call's name in the stack: `PMPI_Recv`.
    """
    name = function.rpartition("MPI_")[2].lower()
    roles = _ROLES.get(name)
    calls = [one for one in _CALL.finditer(text) if one[1].lower() == name]
    if roles is None or len(calls) != 1:
        return {}
    words = split_arguments(text[calls[0].end() :])
    return {role: words[at] for role, at in roles.items() if at < len(words)}


def split_arguments(text: str) -> list[str]:
    """Split what follows a call's opening parenthesis at its commas; nothing if it does not end."""
    words, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        if letter in "\"'":
            return []  # no argument of these calls is a text
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        if depth < 0 or (letter == "," and depth == 0):
            words.append(text[begin:at].strip())
            begin = at + 1
        if depth < 0:
            return words
    return []


async def read_call(text: str, function: str, evaluate: Evaluate) -> MpiCall:
    """Read the partner, the tag and the communicator of a call.

    Args:
        text: The statement that makes it.
        function: Its name in the stack.
        evaluate: Returns the value of an expression in the frame of the statement, if it has one.
    """
    arguments = find_arguments(text, function)
    communicator = await _read_communicator(arguments.pop("comm", _WORLD), evaluate)
    values: dict[str, str] = {}
    for role, expression in arguments.items():
        value = _ANY.get(expression) or await _read_number(expression, evaluate)
        if value is not None:
            values[role] = value
    partner = values.get("from") or values.get("to") or ""
    return MpiCall(
        ", ".join(f"{role} {value}" for role, value in values.items()),
        int(partner) if partner.isdecimal() and not communicator else None,
        communicator,
    )


async def _read_number(expression: str, evaluate: Evaluate) -> str | None:
    if expression.isdecimal():
        return expression
    value = await evaluate(expression) if _is_harmless(expression) else None
    return value if value is not None and re.fullmatch(r"-?\d+", value) else None


async def _read_communicator(expression: str, evaluate: Evaluate) -> str:
    if expression == _WORLD:
        return ""
    value = await evaluate(expression) if _is_harmless(expression) else None
    if value is None:
        return ""
    if (address := _ADDRESS.search(value)) is None:
        return "" if value == _MPICH_WORLD else expression
    world = _ADDRESS.search(await evaluate(_OPEN_MPI_WORLD) or "")
    return "" if world is None or int(world[0], 16) == int(address[0], 16) else expression


def _is_harmless(expression: str) -> bool:
    """Return whether evaluating an expression calls and changes nothing."""
    changes = re.search(r"[\w\])]\s*\(|\+\+|--|(?<![=!<>])=(?!=)", expression)
    return len(expression) <= _EXPRESSION_MAX and changes is None
