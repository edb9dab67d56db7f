"""Translates what other debuggers do with processes, core files and remote targets."""

from __future__ import annotations

import re
from collections import deque
from itertools import pairwise

from debugger.cli.translation.argument_order import Correction

Words = tuple[str, ...]
Result = Words | Correction


def connect_server(rest: Words) -> Result | None:
    """Translate gdb's and LLDB's `connect ADDRESS`."""
    if not rest:
        return None
    return ("attach", "--connect", rest[0])


def translate_target(rest: Words) -> Result | None:
    """Translate gdb's `target remote`, and LLDB's `target create` with a core file."""
    cores = [after for flag, after in pairwise(rest) if flag in {"-c", "--core"}]
    if rest[:1] == ("create",) and cores:
        program = [one for one in rest[1:] if not one.startswith("-") and one != cores[0]]
        opened = ("attach", "--core", cores[0], *(program or ["PROGRAM"]))
        return Correction("a core file is attached to", (opened,))
    is_remote = rest[:1] in (("remote",), ("extended-remote",))
    return connect_server(rest[1:]) if is_remote else None


def translate_process(rest: Words) -> Result | None:
    """Translate LLDB's `process connect`, and the options of `process launch`."""
    if rest[:1] == ("launch",) and any(one.startswith("-") for one in rest[1:]):
        is_stopped = {"-s", "--stop-at-entry"} & set(rest)
        args = [one for one in rest[1:] if not one.startswith("-")]
        launched = ("start", "PROGRAM", *(["--stop-on-entry"] if is_stopped else []))
        return Correction("which program?", ((*launched, *(["--", *args] if args else [])),))
    if rest[:1] == ("save-core",):
        return save_core(rest[1:])
    return connect_server(rest[1:]) if rest[:1] == ("connect",) else None


def save_core(rest: Words) -> Result | None:
    """Suggest the native commands for `gcore 4242` and `gcore FILE`."""
    reason = "a core file is written by the native debugger"
    pid = next((one for one in rest if one.isdecimal()), None)
    names = [one for one in rest if one != pid and not one.startswith("-")]
    file = names[0] if names else f"core.{pid}" if pid else "core"
    saved = (("raw", f"process save-core {file}"), ("raw", f"gcore {file}"))
    if pid is None:
        return Correction(reason, saved)
    return Correction(reason, (("attach", pid, "--pause"), saved[0], ("detach",)))


def attach_script(rest: Words) -> Result | None:
    """Refuse `attach python f.py`, since only what runs is attached to, and `attach ./app 12`."""
    pids = [one for word in rest for one in word.split(",") if one]
    if len(pids) > 1 and all(map(str.isdecimal, pids)):
        return Correction("several processes are a group", (("attach", "--pids", ",".join(pids)),))
    is_pair = len(rest) == 2 and rest[1].isdecimal() and not rest[0].startswith("-")  # noqa: PLR2004
    if is_pair:
        return Correction("a process is named by its ID", (("attach", rest[1]),))
    is_script = len(rest) > 1 and re.fullmatch(r"(?:python[\d.]*|node|ruby|php)", rest[0])
    if is_script:
        return Correction("what does not run is started", (("start", rest[1]),))
    return None


def start_redirected(words: Words) -> tuple[Words, ...]:
    """Return the commands for gdb's `run 7 < in.txt > out.txt`, which names no program."""
    args, fed, is_written = [], "", False
    remaining = deque(words)
    while remaining:
        word = remaining.popleft()
        if word not in {"<", ">", ">>", "2>"} or not remaining:
            args.append(word)
            continue
        file = remaining.popleft()
        fed = file if word == "<" else fed
        is_written = is_written or word != "<"
    stdin = ("--stdin", fed) if fed else ()
    start = ("start", "PROGRAM", *stdin, *(("--", *args) if args else ()))
    # What the program prints is kept for `output`.
    return (start, ("output",)) if is_written else (start,)
