"""Records the executions of lines in a traced run. Run inside gdb."""

from __future__ import annotations

import importlib
from typing import Any

gdb: Any = importlib.import_module("gdb")
snapshots: Any = importlib.import_module("gdb_snapshots")


class LineSite(gdb.Breakpoint):  # type: ignore[misc]
    """A breakpoint at a line that assigns to a local."""

    def __init__(self, run: Any, plan: dict[str, Any]) -> None:
        super().__init__(plan["location"], internal=True)
        self.key = plan["key"]
        self._run, self._is_site = run, plan["is_site"]
        self._names, self._value = plan["names"], plan["value"]
        file, _, number = plan["location"].rpartition(":")
        # Several lines may begin at one instruction: gdb names the last one.
        self._line = (file, int(number)) if _has_code(file, int(number)) else None
        if self._line is None and not self.pending:
            run.result["moved"].append(self.key)

    def stop(self) -> bool:
        """Record that the line runs."""
        run = self._run
        if run.is_late():
            run.is_over = True
            return True
        if self._value:
            # A watchpoint that stops here as well has selected another frame.
            gdb.newest_frame().select()
            if not any(map(self._has_value, self._names)):
                return False
        run.add_event(self.key, {}, is_write=False, is_site=self._is_site, line=self._line)
        is_hot = self._is_site and run.is_hot(self, run.counts[self.key])
        return bool(run.is_end_event(self.key) or is_hot)

    def _has_value(self, name: str) -> bool:
        """Return whether an expression has the planned value, as far as the shorter one goes."""
        found = snapshots.evaluate(name)
        if found is None or not found["bytes"]:
            return False
        short, long = sorted((found["bytes"], self._value), key=len)
        return bool(long.startswith(short) and not long[len(short) :].strip("0"))


def _has_code(file: str, line: int) -> bool:
    """Return whether a line has instructions of its own: gdb takes the next one that has some."""
    try:
        tables = [one.symtab for one in gdb.decode_line(f"{file}:{line}")[1] or ()]
    except (gdb.error, RuntimeError):
        return False
    return any(one is not None and one.linetable().has_line(line) for one in tables)


def set_lines(run: Any) -> None:
    """Set the breakpoints of a plan's lines."""
    for one in run.plan["lines"]:
        try:
            LineSite(run, one)
        except (gdb.error, RuntimeError) as error:
            run.result["notes"].append(f"no breakpoint at {one['location']}: {error}")
