"""Splits LLDB's output into answers, events and other text. Without I/O.

An answer is a line of ours: a record separator, the session's secret, the number of the question
(0: an event), and JSON. The secret is never written to LLDB next to a record separator: so neither
LLDB's echo, nor its description of a stop, nor a program's output can look like an answer, wherever
in a line it begins.
"""

from __future__ import annotations

import base64
from typing import Any

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode

MARK = b"\x1e"
NEWS = 0
_ANSWER_MAX = 64 << 20
_TALK_MAX = 1 << 16


class LldbAnswerText(Struct, frozen=True):
    """The answer to the question of a number, or an event where the number is 0."""

    number: int
    body: bytes


class LldbTalk(Struct, frozen=True):
    """A line that is no answer: a prompt, an echo, a message of LLDB's own."""

    text: str


class LldbOutputSplitter:
    """Splits LLDB's output, fed in any chunks."""

    def __init__(self, secret: str) -> None:
        self._head = MARK + secret.encode("ascii") + b" "
        self._received = bytearray()

    def add_bytes(self, chunk: bytes) -> list[LldbAnswerText | LldbTalk]:
        """Add bytes and return the pieces that are complete.

        Raises:
            DebuggerError: PROTOCOL for an answer of over 64 MiB, or a malformed one.
        """
        if b"\n" not in chunk:
            self._received += chunk
            self._limit_buffer()
            return []
        *lines, rest = bytes(self._received + chunk).split(b"\n")
        self._received = bytearray(rest)
        self._limit_buffer()
        return [piece for line in lines for piece in self._split_line(line)]

    def _limit_buffer(self) -> None:
        if self._head not in self._received:
            # A line of talk may be of any length; an answer may begin in its last bytes.
            del self._received[: max(0, len(self._received) - _TALK_MAX)]
        elif len(self._received) > _ANSWER_MAX:
            raise DebuggerError(ErrorCode.PROTOCOL, f"lldb's answer is over {_ANSWER_MAX} bytes")

    def _split_line(self, line: bytes) -> list[LldbAnswerText | LldbTalk]:
        before, head, after = line.partition(self._head)
        talk = [LldbTalk(before.decode(errors="backslashreplace"))] if before else []
        if not head:
            return [*talk]
        number, _, body = after.partition(b" ")
        if not number.isdigit():
            raise DebuggerError(ErrorCode.PROTOCOL, f"no answer of ours: {line[:80]!r}")
        return [*talk, LldbAnswerText(int(number), body)]


def question_command(number: int, do: str, arguments: dict[str, Any]) -> bytes:
    """Encode a question as a command of LLDB's, in base64: no word of it can act as a command."""
    body = base64.b64encode(msgspec.json.encode({"number": number, "do": do, "with": arguments}))
    return b'script lldb_inside.ask("' + body + b'")\n'


def opening_commands(script: str, secret: str) -> bytes:
    """Write the commands that begin a conversation.

    The last one prints the prompt, unless the script before it has taken over the output: that is
    how an LLDB without Python is recognised.
    """
    path = script.replace("\\", "\\\\").replace('"', '\\"')
    lines = (
        f'settings set prompt "{_prompt_setting(secret)}"',
        f'command script import "{path}"',
        f'script lldb_inside.begin("{secret}")',
        "settings show prompt",
    )
    return "".join(f"{line}\n" for line in lines).encode()


def is_end_of_opening(talk: LldbTalk, secret: str) -> bool:
    """Return whether all commands of the opening have run."""
    return talk.text.endswith(f'prompt (string) = "{_prompt_setting(secret)}"')


def _prompt_setting(secret: str) -> str:
    return f"debugger-{secret[:8]}> "
