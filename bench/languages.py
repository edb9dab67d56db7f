"""Measures Java, Ruby and PHP beside the plain debugger of each, as ratios of one run.

    python bench/languages.py [--json] [java] [ruby] [php]

The plain debuggers are `jdb`, `rdbg` and a client that speaks DBgp to Xdebug and does no more. With
VSCODE_PHP_DEBUG=FOLDER/out/phpDebug.js (its repository, built) that adapter, by which editors drive
Xdebug, is a second one of PHP. All are measured in turns, so that what else the machine does falls
on each:

- `LANGUAGE.start_ratio`: from the start to the first stop with its stack and locals.
- `LANGUAGE.next_ratio`: a `next` with the stack and the locals behind it, and `next_added_ms`.
- `LANGUAGE.next_cpu_ms`: the processor time of the daemon for one, which depends less on what else
  the machine does; that of the program and its adapter is not in it.
- `php.editor_start_ratio`, `php.editor_next_ratio`: the same over vscode-php-debug.

Each side fetches the frames of the stack with their lines, and the names and values of the
innermost frame's arguments and locals, as text: jdb by `next`, `where` and `locals`, rdbg by
`next`, `bt` and `info locals`, DBgp by `step_over`, `stack_get` and `context_get`, with the packets
parsed and the values decoded, vscode-php-debug by the requests `next`, `stackTrace`, `scopes` and
`variables` of the first scope. These are three or four commands of each, one after the other; ours
is one, with the source line, what changed and the output, too, and formatted. No side starts a
process for it: ours is asked over an open connection, as the MCP server does, rdbg at a terminal.
"""

from __future__ import annotations

import base64
import os
import pty
import shutil
import socket
import subprocess
import sys
import tempfile
import tty
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bare import Bare
from run import Daemon, print_figures, turns

AIMS = {"start_ratio": 1.3, "next_ratio": 1.3, "editor_start_ratio": 1.3, "editor_next_ratio": 1.3}
STARTS, STEPS = 7, 200
LINE = 5
PROGRAMS = {
    "java": (
        "Work.java",
        (
            "public class Work {\n  static int work(int n) {\n    int sum = 0;\n"
            "    for (int i = 0; i < n; i++) {\n      sum += i;\n      sum ^= 1;\n    }\n"
            "    return sum;\n  }\n"
            "  public static void main(String[] words) { System.exit(work(100000) & 1); }\n}\n"
        ),
    ),
    "ruby": (
        "work.rb",
        (
            "def work(n)\n  sum = 0\n  i = 0\n  while i < n\n    sum += i\n    sum ^= 1\n"
            "    i += 1\n  end\n  sum\nend\nwork(100_000)\n"
        ),
    ),
    "php": (
        "work.php",
        (
            "<?php\nfunction work($n) {\n    $sum = 0;\n    for ($i = 0; $i < $n; $i++) {\n"
            "        $sum += $i;\n        $sum ^= 1;\n    }\n    return $sum;\n}\nwork(100000);\n"
        ),
    ),
}


class TextDebugger:
    """A debugger that reads commands from its input; `prompt` ends each of its answers."""

    def __init__(self, words: Sequence[str], folder: Path, prompt: bytes) -> None:
        self.prompt = prompt
        self.process = subprocess.Popen(
            words,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"NO_COLOR": "1", "RUBY_DEBUG_NO_RELINE": "1", "TERM": "dumb"},
        )

    def read_until(self, *ends: bytes) -> bytes:
        """Read until one of the texts has come."""
        assert self.process.stdout is not None
        seen = b""
        while not any(end in seen for end in ends):
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            assert chunk, seen.decode(errors="replace")
            seen += chunk
        return seen

    def ask(self, command: str, *ends: bytes) -> bytes:
        """Send a command; return what is printed up to the prompt, or to another text."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{command}\n".encode())
        self.process.stdin.flush()
        return self.read_until(*(ends or (self.prompt,)))

    def close(self) -> None:
        """End it, and what it started."""
        self.process.kill()
        self.process.communicate()


class Jdb(TextDebugger):
    """The JDK's own debugger."""

    def __init__(self, folder: Path) -> None:
        jdb = shutil.which("jdb")
        assert jdb is not None, "jdb is not installed"
        super().__init__([jdb, "-classpath", str(folder), "Work"], folder, b"main[1] ")
        self.read_until(b"> ")
        self.ask(f"stop at Work:{LINE}", b"> ")
        self.ask("run", self.prompt)
        self.look()

    def look(self) -> None:
        """Read the stack and the locals."""
        self.ask("where")
        self.ask("locals")

    def clear(self) -> None:
        """Remove the breakpoint."""
        self.ask(f"clear Work:{LINE}")

    def step(self) -> None:
        """Step over a line."""
        self.ask("next", b"\nmain[1] ")
        self.look()

    def close(self) -> None:
        """End it, and the program."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"exit\n")
        self.process.stdin.flush()
        self.process.communicate(timeout=20)


class Rdbg(TextDebugger):
    """The debugger of the gem debug, at a terminal: what it writes into a pipe is buffered."""

    def __init__(self, folder: Path) -> None:
        rdbg = next(map(str, Path(os.path.realpath("/usr/bin/ruby")).parent.glob("rdbg*")), None)
        found = shutil.which("rdbg") or rdbg
        assert found is not None, "rdbg is not installed"
        ours, its = pty.openpty()
        tty.setraw(its)
        self.terminal, self.prompt = ours, b"(rdbg) "
        self.process = subprocess.Popen(
            [found, "--no-color", "work.rb"],
            cwd=folder,
            stdin=its,
            stdout=its,
            stderr=its,
            start_new_session=True,
            env=os.environ | {"NO_COLOR": "1", "RUBY_DEBUG_NO_RELINE": "1", "TERM": "dumb"},
        )
        os.close(its)
        self.read_until(self.prompt)
        self.ask(f"break work.rb:{LINE}")
        self.ask("continue")
        self.look()

    def read_until(self, *ends: bytes) -> bytes:
        """Read until one of the texts has come."""
        seen = b""
        while not any(end in seen for end in ends):
            seen += os.read(self.terminal, 1 << 16)
        return seen

    def ask(self, command: str, *ends: bytes) -> bytes:
        """Send a command; return what is printed up to the prompt."""
        os.write(self.terminal, f"{command}\n".encode())
        return self.read_until(*(ends or (self.prompt,)))

    def look(self) -> None:
        """Read the stack and the locals."""
        self.ask("bt")
        self.ask("info locals")

    def clear(self) -> None:
        """Remove the breakpoint."""
        self.ask("delete 0")

    def step(self) -> None:
        """Step over a line."""
        self.ask("next")
        self.look()

    def close(self) -> None:
        """End it, and the program."""
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)


class Dbgp:
    """A client of Xdebug's own protocol."""

    def __init__(self, folder: Path) -> None:
        path = folder / "dbgp.sock"
        path.unlink(missing_ok=True)
        options = {"mode": "debug", "start_with_request": "yes", "client_host": f"unix://{path}"}
        words = [word for key, value in options.items() for word in ("-d", f"xdebug.{key}={value}")]
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
            server.listen()
            self.process = subprocess.Popen(
                [shutil.which("php") or "php", *words, "work.php"],
                cwd=folder,
                stdout=subprocess.DEVNULL,
            )
            self.socket, _ = server.accept()
        self.rest, self.number = b"", 0
        self.read()
        answer = self.ask(f"breakpoint_set -t line -f file://{folder}/work.php -n {LINE}")
        self.breakpoint = answer.partition(b' id="')[2].partition(b'"')[0].decode()
        self.ask("run")
        self.look()

    def read(self) -> bytes:
        """Read a packet."""
        while True:
            at = self.rest.find(b"\0")
            end = at + 1 + int(self.rest[:at]) if at >= 0 else 0
            if at >= 0 and len(self.rest) > end:
                packet, self.rest = self.rest[at + 1 : end], self.rest[end + 1 :]
                return packet
            chunk = self.socket.recv(1 << 16)
            assert chunk, "PHP has ended"
            self.rest += chunk

    def ask(self, command: str, data: str | None = None) -> bytes:
        """Run a command."""
        self.number += 1
        name, _, options = command.partition(" ")
        text = f"{name} -i {self.number} {options}".strip()
        if data is not None:
            text += f" -- {base64.b64encode(data.encode()).decode()}"
        self.socket.sendall(text.encode() + b"\0")
        return self.read()

    def look(self) -> None:
        """Read the stack and the locals."""
        stack = ET.fromstring(self.ask("stack_get"))  # noqa: S314 - of a program of ours
        self.stack = [(one.get("where"), one.get("filename"), one.get("lineno")) for one in stack]
        values = ET.fromstring(self.ask("context_get -d 0"))  # noqa: S314 - as above
        self.locals = {one.get("name"): _decode_value(one) for one in values}

    def clear(self) -> None:
        """Remove the breakpoint."""
        self.ask(f"breakpoint_remove -d {self.breakpoint}")

    def step(self) -> None:
        """Step over a line."""
        self.ask("step_over")
        self.look()

    def close(self) -> None:
        """End the program."""
        self.socket.close()
        self.process.kill()
        self.process.wait()


def _decode_value(one: ET.Element) -> str:
    text = one.text or ""
    return base64.b64decode(text).decode() if one.get("encoding") == "base64" else text


class EditorPhp(Bare):
    """vscode-php-debug, stopped at the breakpoint."""

    def __init__(self, folder: Path) -> None:
        super().__init__(os.environ[VSCODE])
        self.source = str(folder / "work.php")
        options = ("mode=debug", "start_with_request=yes", "client_port=${port}")
        launch = {
            "program": self.source,
            "cwd": str(folder),
            "port": 0,
            "runtimeArgs": [f"-dxdebug.{one}" for one in options],
        }
        self.thread = self.start(launch, self.source, LINE)
        self.look(self.thread)

    def clear(self) -> None:
        """Remove the breakpoint."""
        self.ask("setBreakpoints", source={"path": self.source}, breakpoints=[])

    def step(self) -> None:
        """Step over a line."""
        self.ask("next", threadId=self.thread)
        self.event("stopped")
        self.look(self.thread)


VSCODE = "VSCODE_PHP_DEBUG"
PLAIN: Mapping[str, Callable[[Path], Any]] = {"java": Jdb, "ruby": Rdbg, "php": Dbgp}


def list_plain(language: str) -> dict[str, Callable[[Path], Any]]:
    """Return the plain debuggers of a language, by how their figures begin."""
    editors = {"editor_": EditorPhp} if language == "php" and VSCODE in os.environ else {}
    return {"": PLAIN[language], **editors}


def measure_language(daemon: Daemon, language: str) -> dict[str, float]:
    """Measure one language plain, and through the daemon."""
    folder, makers = daemon.folder, list_plain(language)
    name, text = PROGRAMS[language]
    (folder / name).write_text(text)
    program = name
    if language == "java":
        subprocess.run([shutil.which("javac") or "javac", "-g", name], cwd=folder, check=True)
        program = "Work.class"
    begin = ("start", program, "--break", f"{name}:{LINE}")
    daemon.ask(*begin)  # Java's adapter is compiled at its first start
    daemon.ask("stop")

    begun: list[Any] = []

    def begin_plain(make: Callable[[Path], Any]) -> None:
        begun.append(make(folder))

    starts: list[Callable[[], object]] = []
    for make in makers.values():
        starts += [partial(begin_plain, make), lambda: begun.pop().close()]
    start = turns(STARTS, lambda: daemon.ask(*begin), lambda: daemon.ask("stop"), *starts)[::2]
    plain = [make(folder) for make in makers.values()]
    for one in plain:
        one.clear()
    daemon.ask(*begin)
    daemon.ask("breakpoint", "remove", "--all")
    pid = daemon.pid()
    used_ms = daemon.cpu_ms(pid)
    step = turns(STEPS, lambda: daemon.ask("next"), *(one.step for one in plain))
    used_ms = daemon.cpu_ms(pid) - used_ms
    for one in plain:
        one.close()
    daemon.ask("stop")
    figures: dict[str, float] = {"next_cpu_ms": used_ms / STEPS}
    for key, start_ms, next_ms in zip(makers, start[1:], step[1:], strict=True):
        figures |= {
            f"{key}start_ratio": start[0] / start_ms,
            f"{key}start_plain_ms": start_ms,
            f"{key}next_ratio": step[0] / next_ms,
            f"{key}next_plain_ms": next_ms,
            f"{key}next_added_ms": step[0] - next_ms,
        }
    return figures


def main() -> None:
    """Measure, and print a table or one JSON object."""
    named = [one for one in sys.argv[1:] if one in PLAIN] or list(PLAIN)
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as folder:
        daemon = Daemon(Path(folder))
        figures = {
            f"{language}.{key}": value
            for language in named
            for key, value in measure_language(daemon, language).items()
        }
        daemon.run("stop", "--all")
        daemon.run("daemon", "stop")
    print_figures(figures, AIMS)


if __name__ == "__main__":
    main()
