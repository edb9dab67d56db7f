"""Runs the program `debugger ui`: listens on this machine, opens the browser, serves the page."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from debugger import paths
from debugger.cli import commands, parser
from debugger.daemon.daemon_client import DaemonClient
from debugger.daemon.http_listener import build_listener, open_port
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import COMMANDS
from debugger.ui.page_guard import PageGuard, PageKeys
from debugger.ui.page_server import PageServer

UNUSED_S: Final = 3600.0  # seconds without a page, after which the server ends
_TICK_S: Final = 10.0
_PORT_MAX: Final = 65535
_REDIRECT: Final = (
    '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
    '<meta http-equiv="refresh" content="0; url={url}"><title>debugger</title>\n'
)


def run_page(argv: Sequence[str]) -> int:
    """Serve the page until a signal comes, or nobody has used it for an hour.

    Raises:
        DebuggerError: USAGE for invalid options, or a port that is in use.
    """
    commands.register_all()
    parsed = parser.parse_argv(argv, COMMANDS)
    options = parsed.command.bind_arguments(parsed.args)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    with contextlib.closing(_open_port(options["port"])) as listener:
        session = parsed.session or os.environ.get("DEBUGGER_SESSION") or None
        asyncio.run(_serve_until_stopped(listener, session, opens=not options["no_open"]))
    return 0


def _open_port(port: int) -> socket.socket:
    if not 0 <= port <= _PORT_MAX:
        raise DebuggerError(ErrorCode.USAGE, f"no port {port}", hint="debugger ui --help")
    return open_port("127.0.0.1", port, hint="debugger ui takes a free port")


async def _serve_until_stopped(
    listener: socket.socket, session: str | None, *, opens: bool
) -> None:
    port = listener.getsockname()[1]
    keys = PageKeys(port)
    async with DaemonClient(note=_write_note, starts_daemon=False) as daemon:
        server = PageServer(daemon, keys, session)
        guarded = PageGuard(server.build_app(), keys=keys, port=port)
        listening = build_listener(guarded, proxy_headers=False, lifespan="off")
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, ended.set)
        url = f"http://127.0.0.1:{port}/?token={keys.token}"
        if session is not None:
            url += f"&session={quote(session, safe='')}"
        serving = asyncio.ensure_future(listening.serve(sockets=[listener]))
        watching = asyncio.ensure_future(server.watch_daemon())
        try:
            with _announce(url, port, opens=opens):
                await _wait_for_end(server, ended)
        finally:
            watching.cancel()
            server.end_streams()
            logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # streams that were cut
            listening.should_exit = True
            await serving


async def _wait_for_end(server: PageServer, ended: asyncio.Event) -> None:
    while not ended.is_set():
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_TICK_S):
                await ended.wait()
        if server.unused_s() > UNUSED_S:
            _write_note("no page was open for an hour: ended")
            return


@contextmanager
def _announce(url: str, port: int, *, opens: bool) -> Iterator[None]:
    """Print the address, and open the browser at a private file that leads to it.

    An address in the browser's arguments could be read by other users of the machine.
    """
    sys.stdout.write(f"page: {url}\n")
    sys.stdout.flush()
    if not opens:
        yield
        return
    path = Path(paths.runtime_dir()) / f"ui-{port}.html"
    paths.write_private(str(path), _REDIRECT.format(url=url.replace("&", "&amp;")).encode())
    try:
        # In a thread: a browser of the terminal does not return before it ends.
        threading.Thread(target=_open_browser, args=(path.as_uri(),), daemon=True).start()
        yield
    finally:
        paths.remove_file(str(path))


def _open_browser(address: str) -> None:
    if not webbrowser.open(address):
        _write_note("no browser was found: open the address above")


def _write_note(text: str) -> None:
    sys.stderr.write(f"note: {text}\n")
    sys.stderr.flush()
