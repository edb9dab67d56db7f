"""Starts the fake adapter and serves its clients, on stdio or on TCP.

Usage: dap_adapter.py [--quirk NAME[:ARGUMENT]…]… [--script FILE] [--die-after N] [--log FILE]
       [--port-announce | --port N | --client-addr HOST:PORT] [--list-quirks]

The program takes words as launch `args`: a number of iterations, `forever`, `crash` (SIGSEGV in
the third turn), `throw` (an exception there), `noisy` (a line on stderr).
A script is a JSON list of `{"on": COMMAND, "where": {ARGUMENT: VALUE}, "send": [MESSAGE…]}`;
the first rule that fits a request answers it, and `"once": true` uses a rule up.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import socket
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from dap_messages import Journal, Outlet, end_process, is_response, read_messages
from dap_quirks import QUIRKS, UnknownQuirkError, activate, answer, prepare
from dap_session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dap_messages import Item, Json
    from dap_quirks.table import Active


@dataclass
class Adapter:
    """What all the connections of the process share."""

    quirks: list[Active]
    journal: Journal
    rules: list[Json] = field(default_factory=list)
    listener: socket.socket | None = None

    def serve(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        """Answer one client until it disconnects or closes."""
        session = Session(port=self.port)
        prepare(session, self.quirks)
        outlet = Outlet(outgoing, self.journal)
        self.journal.die_if_due()
        # A client that is gone is no reason to complain.
        with contextlib.suppress(ConnectionError):
            self._converse(session, incoming, outlet)
        while session.is_deaf:
            signal.pause()
        session.kill_debuggee()

    def _converse(self, session: Session, incoming: BinaryIO, outlet: Outlet) -> None:
        for message in read_messages(incoming):
            self.journal.received(message)
            items = self._react(session, message)
            for item in items:
                outlet.perform(item)
            if any(is_response(item) and item["command"] == "disconnect" for item in items):
                return

    def port(self) -> int:
        """The port for further connections; opens one if there is none yet."""
        if self.listener is None:
            self.listener = socket.create_server(("127.0.0.1", 0))
            threading.Thread(target=self.accept_all, daemon=True).start()
        return int(self.listener.getsockname()[1])

    def accept_all(self) -> None:
        """Serve each connection in a thread of its own."""
        while self.listener:
            threading.Thread(target=self.serve_socket, args=self.listener.accept()[:1]).start()

    def serve_socket(self, connection: socket.socket) -> None:
        """Answer the client at the other end of the connection."""
        with (
            connection,
            connection.makefile("rb") as incoming,
            connection.makefile("wb") as outgoing,
        ):
            self.serve(incoming, outgoing)

    def _react(self, session: Session, message: Json) -> list[Item]:
        if message["type"] == "response":
            go_on = session.awaited.get(message["command"])
            return go_on(message) if go_on else []
        for rule in self.rules:
            if _fits(rule, message):
                if rule.get("once"):
                    self.rules.remove(rule)
                return [_stamped(item, message) for item in rule["send"]]
        return answer(session, message, self.quirks)


def _fits(rule: Json, request: Json) -> bool:
    arguments = request.get("arguments") or {}
    wanted = rule.get("where", {}).items()
    return rule["on"] == request["command"] and all(
        arguments.get(key) == value for key, value in wanted
    )


def _stamped(item: Json, request: Json) -> Json:
    if item["type"] != "response":
        return item
    return {"request_seq": request["seq"], "command": request["command"]} | item


def main(argv: Sequence[str]) -> None:
    """Run the adapter that the arguments describe."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quirk", action="append", default=[])
    parser.add_argument("--script", type=Path)
    parser.add_argument("--die-after", type=int)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--port-announce", action="store_true")
    parser.add_argument("--port", type=int)
    parser.add_argument("--client-addr")
    parser.add_argument("--list-quirks", action="store_true")
    options = parser.parse_args(argv)
    if options.list_quirks:
        for quirk in QUIRKS.values():
            sys.stdout.write(f"{quirk.spec}\t{quirk.source}\n")
        return
    try:
        quirks = [activate(text) for text in options.quirk]
    except UnknownQuirkError as error:
        parser.error(str(error))
    rules = json.loads(options.script.read_text(encoding="utf-8")) if options.script else []
    adapter = Adapter(quirks, Journal(options.log, options.die_after), rules)
    if options.client_addr:
        host, _, port = options.client_addr.rpartition(":")
        adapter.serve_socket(socket.create_connection((host, int(port)), timeout=None))
    elif options.port_announce or options.port is not None:
        _listen(adapter, options.port or 0)
    else:
        adapter.serve(sys.stdin.buffer, sys.stdout.buffer)
        # At once: a client that has closed the pipe makes the interpreter's own flush complain.
        end_process(0)


def _listen(adapter: Adapter, port: int) -> None:
    """Serve the first client until it goes; others may come meanwhile."""
    adapter.listener = socket.create_server(("127.0.0.1", port))
    sys.stdout.write(f"DAP server listening at: 127.0.0.1:{adapter.port()}\n")
    sys.stdout.flush()
    first, _ = adapter.listener.accept()
    threading.Thread(target=adapter.accept_all, daemon=True).start()
    adapter.serve_socket(first)


if __name__ == "__main__":
    main(sys.argv[1:])
