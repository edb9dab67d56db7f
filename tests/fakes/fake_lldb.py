"""A command line that reads and answers as LLDB's does, and does what LLDB does at its worst.

The first argument says what: `no-python`, `silent` (it is never ready), `late N` and so on are what
the questions themselves ask for, by their names.
"""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import sys
import time

_CHATTER = "Process 7 stopped\n* thread #1, stop reason = breakpoint 1.1\n"
_BEGIN = re.compile(r'script lldb_inside\.begin\("(\w+)"\)')
_ASK = re.compile(r'script lldb_inside\.ask\("([\w+/=]*)"\)')
_SHOW = "settings show prompt"
_FOREVER_S = 600


class Interrupted(Exception):
    pass


def _interrupt(*_: object) -> None:
    raise Interrupted


class FakeLldb:
    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.secret = ""
        self.prompt = "(lldb) "
        self.commands = 0

    def write(self, text: str) -> None:
        os.write(1, text.encode())

    def tell(self, number: int, body: object) -> None:
        self.write(f"\x1e{self.secret} {number} {json.dumps(body)}\n")

    def run(self, line: str) -> None:
        self.commands += 1
        self.write(f"{self.prompt}{line}\n")
        if line.startswith("settings set prompt"):
            self.prompt = line.partition('"')[2].rstrip('"')
        elif (begins := _BEGIN.match(line)) and self.mode == "python":
            self.secret = begins[1]
            self.tell(0, {"event": "ready", "version": "lldb version 19.1.7 (of a fake)"})
        elif line == _SHOW and self.mode != "silent":
            self.write(f'prompt (string) = "{self.prompt}"\n')
        elif (asked := _ASK.match(line)) and self.secret:
            question = json.loads(base64.b64decode(asked[1]))
            self.answer(question["number"], question["do"], **question["with"])
        elif self.mode != "silent":
            os.write(2, b"error: there is no embedded script interpreter in this mode.\n")

    def answer(self, number: int, do: str, **told: object) -> None:
        if do == "hang":
            try:
                time.sleep(_FOREVER_S)
            except Interrupted:
                self.tell(number, {"error": "it was interrupted", "code": "TIMEOUT"})
        elif do == "deaf":
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            time.sleep(_FOREVER_S)
        elif do == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif do == "garble":
            self.write(f"\x1e{self.secret} {number} {{no json\n")
        elif do == "chatter":
            self.write(_CHATTER)
            self.tell(0, {"event": "stopped", "reason": "step", "raw": "step"})
            self.write(_CHATTER.rstrip("\n"))
            self.tell(number, {"ok": told})
            self.write(_CHATTER)
        elif do == "refuse":
            self.tell(number, {"error": "no such thing", "code": "EVALUATION_FAILED"})
        else:
            self.tell(number, {"ok": [do, told, self.commands]})


def main() -> None:
    signal.signal(signal.SIGINT, _interrupt)
    fake = FakeLldb(sys.argv[1])
    for line in sys.stdin:
        fake.run(line.rstrip("\n"))


if __name__ == "__main__":
    main()
