"""Names the members of a group, writes sets of members as ranges, and selects members by them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import near_names

# What engines set in a member's environment. The rank in the whole job comes before the one on
# this machine; pytest-xdist sets its own inside the worker, after the start.
RANK_VARIABLES = (
    "RANK",
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "PMI_RANK",
    "SLURM_PROCID",
    "PYTEST_XDIST_WORKER",
    "RAY_WORKER_ID",
    "LOCAL_RANK",
    "NODE_UNIQUE_ID",
)
RANK_NAME = re.compile(r"(?<![\w.])_rank\b")
MAIN = "main"
_LABEL_MAX = 40  # characters
_DEFAULT_NAME = re.compile(
    r"(?:Spawn|Fork|ForkServer)?(?:Process|PoolWorker)-(\d+(?::\d+)*)", re.ASCII
)
_UNSAFE = re.compile(r"[\s,]+")
# A number without a leading zero, behind nothing or behind what is no digit.
_NUMBERED = re.compile(r"(|.*\D)(0|[1-9]\d{0,8})", re.ASCII | re.DOTALL)
_RANGE = re.compile(r"(|.*\D)(0|[1-9]\d{0,8})-(0|[1-9]\d{0,8})", re.ASCII | re.DOTALL)
# As `gw0-gw3`: the prefix stands twice.
_NAMED_RANGE = re.compile(r"(.*\D)(0|[1-9]\d{0,8})-\1(0|[1-9]\d{0,8})", re.ASCII | re.DOTALL)
_PATTERN = re.compile(r"[*?\[]")
_EXCEPT = re.compile(r"(?:not\s+|!\s*)(?=\S)")
_NAMED_MAX = 5


def choose_label(variables: Mapping[str, str], process_name: str, pid: int | None) -> str:
    """Choose a member's label: its rank or worker, its name in multiprocessing, or its pid.

    Args:
        variables: Those of `RANK_VARIABLES` that are the member's own, not its parent's.
        process_name: The name that multiprocessing gave the process; "" where it gave none.
        pid: None where there is no process.
    """
    for name in RANK_VARIABLES:
        if label := clean_label(variables.get(name, "")):
            return label
    if process_name == "MainProcess":
        return MAIN
    default = _DEFAULT_NAME.fullmatch(process_name)
    label = default[1] if default is not None else clean_label(process_name)
    return label or (f"pid{pid}" if pid is not None else "member")


def clean_label(text: str) -> str:
    """Return a text as a label: short, without blanks and without the comma of a set."""
    return _UNSAFE.sub("_", text.strip())[:_LABEL_MAX]


def make_unique(label: str, taken: Collection[str]) -> str:
    """Return a label that no other member has."""
    number, unique = 1, label
    while unique in taken:
        number += 1
        unique = f"{label}#{number}"
    return unique


def sort_key(label: str) -> tuple[int, str, int, str]:
    """Return the key of a label's place: main first, then numbers, then names by their number."""
    numbered = _NUMBERED.fullmatch(label)
    if label == MAIN or numbered is None:
        return (0 if label == MAIN else 2, label, -1, label)
    return (1 if not numbered[1] else 2, numbered[1], int(numbered[2]), label)


def format_members(labels: Iterable[str]) -> str:
    """Write a set of members: numbers in a row as a range (`0-5,7`, `gw0-3`)."""
    return ",".join(join_runs(sorted(set(labels), key=sort_key)))


def join_runs(labels: Iterable[str]) -> list[str]:
    """Return labels in their order, those with numbers in a row as one range."""
    parts: list[str] = []
    run: list[tuple[str, int]] = []
    for label in labels:
        numbered = _NUMBERED.fullmatch(label)
        this = (numbered[1], int(numbered[2])) if numbered is not None else None
        if this is not None and run and this == (run[-1][0], run[-1][1] + 1):
            run.append(this)
            continue
        parts += _format_run(run)
        run = [this] if this is not None else []
        if this is None:
            parts.append(label)
    return [*parts, *_format_run(run)]


def _format_run(run: Sequence[tuple[str, int]]) -> list[str]:
    if not run:
        return []
    prefix, first = run[0]
    # A prefix that ends in a dash would read as a range of its own.
    if len(run) == 1 or prefix.endswith("-"):
        return [f"{prefix}{number}" for prefix, number in run]
    return [f"{prefix}{first}-{run[-1][1]}"]


def select_members(text: str, labels: Sequence[str]) -> list[str]:
    """Return the labels that a set names: `0-3,7`, a label, or a pattern such as `gw*`.

    `not SET` names all others; `!SET` is the same.

    Raises:
        DebuggerError: USAGE for an empty set; NOT_FOUND where a part names no member.
    """
    if text not in labels and (excluding := _EXCEPT.match(text.strip())) is not None:
        excluded = select_members(text.strip()[excluding.end() :], labels)
        others = [one for one in labels if one not in excluded]
        if not others:
            raise DebuggerError(
                ErrorCode.NOT_FOUND,
                f"{text.strip()!r} leaves no member; there are: {format_members(labels)[:400]}",
                hint="--members all",
            )
        return others
    parts = [one.strip() for one in text.split(",") if one.strip()]
    if not parts:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--members names no member",
            hint="--members 0-3,7 or LABEL or gw* or 'not 2'",
        )
    chosen: set[str] = set()
    for part in parts:
        found = _select_part(part, labels)
        if not found:
            raise _no_member(part, labels)
        chosen |= found
    return [one for one in labels if one in chosen]


def _select_part(part: str, labels: Sequence[str]) -> set[str]:
    if part in labels:
        return {part}
    if part == "all":
        return set(labels)
    span = _RANGE.fullmatch(part) or _NAMED_RANGE.fullmatch(part)
    if span is not None:
        prefix, first, last = span[1], int(span[2]), int(span[3])
        return {one for one in labels if _is_in_range(one, prefix, first, last)}
    if _PATTERN.search(part):
        return {one for one in labels if fnmatchcase(one, part)}
    return set()


def _is_in_range(label: str, prefix: str, first: int, last: int) -> bool:
    numbered = _NUMBERED.fullmatch(label)
    return numbered is not None and numbered[1] == prefix and first <= int(numbered[2]) <= last


def _no_member(part: str, labels: Sequence[str]) -> DebuggerError:
    if not labels:
        return DebuggerError(
            ErrorCode.NOT_FOUND, "the group has no members", hint="debugger status"
        )
    near = near_names(part, list(labels))[:_NAMED_MAX]
    hint = f"--members {near[0]}" if near else f"--members {format_members(labels)[:200]}"
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"no member {part!r}; there are: {format_members(labels)[:400]}",
        hint=hint,
    )


# As `choose_label` does inside the process; a variable of the program's own comes first.
_RANK_IN_PYTHON = (
    "locals().get('_rank', globals().get('_rank', (lambda texts: int(texts[0]) "
    "if texts[0].isdecimal() else texts[0])([one for one in "
    "map(__import__('os').environ.get, {names!r}) if one] or "
    "[getattr(getattr(__import__('sys').modules.get('multiprocessing.process'), "
    "'current_process', str)(), 'name', '').rpartition('-')[2]])))"
)


def write_rank(condition: str, inherited: Collection[str], rank: str | None) -> str:
    """Write what stands for `_rank` in a condition of one member.

    Args:
        condition: Unchanged where it has no `_rank`, or where the member has no rank.
        inherited: Those of `RANK_VARIABLES` that name no member: the whole job has them.
        rank: None of a Python program, which finds its rank at each hit.
    """
    text = rank if rank is None or rank.isdecimal() else f'"{rank}"'
    if text is None:
        names = tuple(one for one in RANK_VARIABLES if one not in inherited)
        text = f"({_RANK_IN_PYTHON.format(names=names)})"
    return RANK_NAME.sub(lambda _: text, condition) if rank != "" else condition
