"""Formats stacks, variables and attach results in XcodeBuildMCP's wording. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

TEXT_MAX = 16_000  # characters of one answer


def stack_text(
    thread: int, frames: Sequence[Mapping[str, Any]], *, name: str = "", left_out: int = 0
) -> str:
    """Format a thread's stack, innermost frame first."""
    label = f"Thread {thread} ({name})" if name else f"Thread {thread}"
    if not frames:
        return f"{label}: no stack frames."
    lines = [
        f"frame #{one.get('index', number)}: {one['function']} "
        f"at {one.get('file') or 'unknown'}:{one.get('line') or 0}"
        for number, one in enumerate(frames)
    ]
    if left_out > 0:
        lines.append(f"… {left_out} more: maxFrames")
    return "\n".join([label, *lines])


def variables_text(section: str, found: Sequence[Mapping[str, Any]], total: int) -> str:
    """Format a scope's variables below its name, with a count of the omitted ones."""
    if not found:
        return f"{section}:\n  (no variables)"
    lines: list[str] = []
    left = TEXT_MAX
    for one in found:
        line = f"  {one['name']}{_of_type(one.get('type'))} = {one['value']}"
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    if total > len(lines):
        lines.append(f'  … {total - len(lines)} more: debug_lldb_command "frame variable NAME"')
    return "\n".join([f"{section}:", *lines])


def _of_type(name: str | None) -> str:
    return f" ({name})" if name else ""


def output_text(text: str) -> str:
    """Truncate the output of a debugger command, with its full length."""
    whole = text.strip()
    if len(whole) <= TEXT_MAX:
        return whole
    return f"{whole[:TEXT_MAX]}\n… {len(whole) - TEXT_MAX} more characters: ask for less of it"


def attached_text(
    status: Mapping[str, Any],
    simulator: str,
    *,
    is_current: bool,
    is_running: bool,
    warnings: Sequence[str] = (),
) -> str:
    """Describe a new session, and the possible next steps."""
    session = status["session"]
    label = "DAP debugger" if status.get("backend") == "dap" else "LLDB"
    current = (
        "This session is now the current debug session."
        if is_current
        else "This session is not set as the current session."
    )
    resumed = (
        "Execution resumed after attach."
        if is_running
        else "Execution is paused. Use debug_continue to resume before UI automation."
    )
    key = f'debugSessionId: "{session}"'
    warned = "".join(f"⚠️ {one}\n\n" for one in warnings)
    return (
        f"{warned}✅ Attached {label} to simulator process {status.get('pid')} ({simulator}).\n\n"
        f"Debug session ID: {session}\n{current}\n{resumed}\n\nNext steps:\n"
        f'1. Add a breakpoint: debug_breakpoint_add({{ {key}, file: "...", line: 123 }})\n'
        f"2. Continue execution: debug_continue({{ {key} }})\n"
        f"3. Show call stack: debug_stack({{ {key} }})"
    )


def breakpoint_text(one: Mapping[str, Any]) -> str:
    """Describe a new breakpoint, with the reason if it is not bound."""
    number = one["id"]
    line = one.get("line") or one.get("requested_line")
    is_by_name = one.get("function") and not one.get("requested_line")
    where = f"on {one['function']}" if is_by_name else f"at {one.get('file')}:{line}"
    lines = [f"✅ Breakpoint {number} set.", "", f"Set breakpoint {number} {where}"]
    if one.get("condition"):
        lines[-1] += f" if {one['condition']}"
    if not one.get("verified"):
        lines.append(f"⚠️ Not bound yet: {one.get('why_unbound') or 'it may bind later'}")
    return "\n".join(lines)
