"""Explains a refused attach, and suggests a remedy.

The rules are those of ptrace(2), "Ptrace access mode checking", and of Yama's ptrace_scope.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from debugger.system.process_info import ProcessInfo, has_proc, is_below, look_at, status_of

CAP_SYS_PTRACE = 19
_SCOPE = "/proc/sys/kernel/yama/ptrace_scope"
_OURSELVES = "/proc/self/status"
_FILTERED = "2"  # the mode of seccomp(2) that a container's rules are enforced by
_LIST = "debugger attach lists the processes"
_OWN_CHILDREN, _ADMINISTRATORS, _NOBODY = 1, 2, 3


class TraceFacts(Struct, frozen=True):
    """The facts that decide on a permission to trace: the process, and the tracing user."""

    process: ProcessInfo
    uid: int
    may_trace_all: bool
    # Yama's ptrace_scope, 0 without Yama.
    scope: int = 0
    # The process descends from us.
    is_descendant: bool = False
    # Our system calls are filtered, as in a container.
    is_filtered: bool = False
    is_init: bool = False
    # Without /proc, as on macOS, less is known of the process.
    has_proc: bool = True
    tracer_name: str = ""


class TraceRefusal(Struct, frozen=True):
    """The reason of a refused attach, and a remedy; if not `is_certain`, an attempt is allowed."""

    reason: str
    remedy: str
    is_certain: bool = True


def explain_refusal(facts: TraceFacts, *, traces: bool = True) -> TraceRefusal | None:
    """Return why a process cannot be attached to; None if no reason is known.

    Without `traces` the debugger asks the process itself, and needs only a connection to it.
    """
    return _never_traceable(facts) or (
        _protected_process(facts) if traces else _unreachable_process(facts)
    )


def _never_traceable(facts: TraceFacts) -> TraceRefusal | None:
    process = facts.process
    who = f"process {process.pid} ({process.name})"
    if process.is_kernel:
        return TraceRefusal(f"{who} is a thread of the kernel", _LIST)
    if process.state in {"Z", "X"}:
        return TraceRefusal(
            f"{who} has ended; its parent has yet to take note",
            _LIST,
        )
    if facts.is_init:
        why = "is the first process of this machine, which would stand still with it"
        return TraceRefusal(f"{who} {why}", _LIST)
    return None


def _unreachable_process(facts: TraceFacts) -> TraceRefusal | None:
    if facts.uid in {0, facts.process.owner}:
        return None
    return _of_another_user(facts)


def _protected_process(facts: TraceFacts) -> TraceRefusal | None:
    process = facts.process
    if process.tracer:
        tracer = f"{process.tracer}" + (f" ({facts.tracer_name})" if facts.tracer_name else "")
        return TraceRefusal(
            f"process {process.pid} ({process.name}) is traced by process {tracer} already, "
            "and can have one tracer only",
            f"end that debugger, process {process.tracer}, or let it detach",
        )
    if facts.scope >= _NOBODY:
        return TraceRefusal(
            "Yama forbids all tracing here: ptrace_scope is 3",
            "only a reboot can lower kernel.yama.ptrace_scope",
        )
    if not facts.may_trace_all:
        if facts.uid != process.owner:
            return _of_another_user(facts)
        return _among_our_own(facts) or _possible_refusal(facts)
    return None if process.exe or not facts.has_proc else _hidden_process(process)


def _hidden_process(process: ProcessInfo) -> TraceRefusal:
    """Refuse a process that may not even be inspected, which needs less than tracing it."""
    return TraceRefusal(
        f"process {process.pid} ({process.name}) is hidden from us though we are root, as by a "
        "container's or a security module's rules",
        "run the debugger outside of the container, or where the process runs",
    )


def _among_our_own(facts: TraceFacts) -> TraceRefusal | None:
    process = facts.process
    if facts.scope == _ADMINISTRATORS:
        return TraceRefusal(
            "Yama lets only administrators trace: ptrace_scope is 2",
            "sudo sysctl kernel.yama.ptrace_scope=0, or run the debugger as root",
        )
    if process.holder != process.owner:
        return TraceRefusal(
            f"process {process.pid} ({process.name}) has more rights than we have, or had them "
            "(set-user-ID), or does not let itself be looked into",
            "run the debugger as root, or start the program without those rights",
        )
    return None


def _of_another_user(facts: TraceFacts) -> TraceRefusal:
    process = facts.process
    return TraceRefusal(
        f"process {process.pid} ({process.name}) belongs to user {process.owner}, "
        f"and we are user {facts.uid}",
        f"run the debugger as that user, or as root: sudo debugger attach {process.pid}",
    )


def _possible_refusal(facts: TraceFacts) -> TraceRefusal | None:
    if facts.scope == _OWN_CHILDREN and not facts.is_descendant:
        return TraceRefusal(
            "Yama lets a program be traced by its ancestors only: ptrace_scope is 1",
            "sudo sysctl kernel.yama.ptrace_scope=0, or debugger start PROGRAM",
            is_certain=False,  # the program may have allowed it: prctl(2), PR_SET_PTRACER
        )
    if facts.is_filtered:
        return TraceRefusal(
            "system calls are filtered here, as in a container, and ptrace may be among them",
            "start the container with --cap-add=SYS_PTRACE --security-opt seccomp=unconfined",
            is_certain=False,
        )
    return None


def facts_of(process: ProcessInfo) -> TraceFacts:
    """Collect the facts that decide on a permission."""
    ourselves = status_of(_read_text(_OURSELVES))
    capabilities = int(ourselves.get("CapEff", "0") or "0", 16)
    tracer = look_at(process.tracer) if process.tracer else None
    scope = _read_text(_SCOPE).strip()
    return TraceFacts(
        process=process,
        uid=os.geteuid(),
        may_trace_all=bool(capabilities >> CAP_SYS_PTRACE & 1) if has_proc() else not os.geteuid(),
        scope=int(scope) if scope.isdecimal() else 0,
        is_descendant=is_below(process, os.getpid()),
        is_filtered=ourselves.get("Seccomp") == _FILTERED,
        has_proc=has_proc(),
        is_init=process.pid == 1 and _has_other_kernel(),
        tracer_name=tracer.name if tracer is not None else "",
    )


def _has_other_kernel() -> bool:
    """Return whether process 1 is a machine's init: in a container kernel threads are hidden."""
    second = look_at(2)
    return second is not None and second.is_kernel


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""
