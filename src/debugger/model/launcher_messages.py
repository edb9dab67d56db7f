"""Finds what a launcher of a job writes of its failure among the lines of its output. Pure.

Open MPI (4.1) writes messages between lines of dashes, with what is the matter in the first
paragraph. srun (Slurm 22.05) begins its lines with `srun: error: `, and mpiexec of MPICH (4.0) with
`[mpiexec@HOST] `. What only repeats that a rank or a host has failed is no reason: the line is that
`debugger member` has written there.
"""

from __future__ import annotations

import re

_DASHES = re.compile(r"-{40,}\Z")
_PREFIXED = re.compile(r"(?:srun: (?:error|fatal): |\[mpiexec@[^\]\s]+\] )(?P<text>\S.*)")
# `mpirun detected …`, `srun: error: node1: task 2: Exited with exit code 1`.
_REPEATS = re.compile(
    r"Primary job +terminated normally"
    r"|\S+ detected that one or more processes exited with non-zero status"
    r"|\S+ was unable to reliably start one or more daemons"
    r"|\S+: tasks? [\d,-]+: "
)
_WARNING = "WARNING"
# How `debugger member` says on standard error why it could not become a rank's program, or, in the
# place of ssh, why a host is not reached.
_ERROR, _HINT = "error: ", "hint: "
_MESSAGE_MAX = 300  # characters


class LauncherMessages:
    """Reads the output of a launcher line by line."""

    def __init__(self) -> None:
        self._found = ""
        self._error = ""
        # The line after an error of ours names the command that helps.
        self._takes_hint = False
        # The paragraph that follows a line of dashes.
        self._paragraph: list[str] | None = None

    @property
    def reason(self) -> str:
        """What the launcher wrote of its failure, else the first error; "" without either."""
        return self._found or self._chosen_paragraph() or self._error

    def add_line(self, line: str, rank: str = "") -> None:
        """Read a line; `rank` is the rank that wrote it, where the launcher names it."""
        text = line.strip()
        if text.startswith(_ERROR) and not self._error:
            whose = f" (rank {rank})" if rank else ""
            self._error = f"{_shorten(text.removeprefix(_ERROR))}{whose}"
            self._takes_hint = not rank
        elif rank:
            return
        elif text.startswith(_HINT) and self._takes_hint:
            self._error += f"; {_shorten(text.removeprefix(_HINT))}"
            self._takes_hint = False
        elif _DASHES.match(text):
            self._end_paragraph()
            self._paragraph = []
        elif self._paragraph is not None and text:
            self._paragraph.append(text)
        elif self._paragraph is not None:
            self._end_paragraph()
        elif (prefixed := _PREFIXED.match(text)) is not None and not self._found:
            self._found = _choose_reason(prefixed["text"])

    def _end_paragraph(self) -> None:
        self._found = self._found or self._chosen_paragraph()
        self._paragraph = None

    def _chosen_paragraph(self) -> str:
        return _choose_reason(" ".join(self._paragraph or ()).rstrip(":"))


def _choose_reason(text: str) -> str:
    """Return a message that is a reason, shortened; "" for a warning and for a repetition."""
    is_other = text.startswith(_WARNING) or _REPEATS.match(text) is not None
    return "" if is_other else _shorten(text)


def _shorten(text: str) -> str:
    return text if len(text) <= _MESSAGE_MAX else f"{text[: _MESSAGE_MAX - 1]}…"
