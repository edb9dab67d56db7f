"""Adds to gdb's own adapter, and changes, what the debugger needs. Run inside gdb, at its start.

It takes over those of gdb's DAP requests and events that lack something (seen with gdb 16.3), each
where it is registered, and adds a few of our own, whose names begin with `debugger`. It was tried
with 16.3 and 18.1; a gdb in which something is not where it is looked for starts no program.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import signal
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

gdb: Any = importlib.import_module("gdb")
server: Any = importlib.import_module("gdb.dap.server")
events: Any = importlib.import_module("gdb.dap.events")
evaluating: Any = importlib.import_module("gdb.dap.evaluate")
running: Any = importlib.import_module("gdb.dap.next")

_PARTS = ("gdb_expressions", "gdb_begins", "gdb_breaks", "gdb_values", "gdb_thrown", "gdb_requests",
          "gdb_forks", "gdb_caught")  # fmt: skip
_NAME = re.compile(r"(?<![\w.>:'$\"])[A-Za-z_]\w*(?!\w*\s*::)")
# What is written in C whatever the program's language: the signal's record, whose fields Fortran
# and Ada name by other operators, and calls of C's library.
_IN_C = ("$_siginfo", "((void (*)(void *))")
# Events that are withheld while a command of ours runs (`is_quiet`).
_LOUD = frozenset({"stopped", "continued", "exited", "terminated"})
_PAUSING = ("SIGSTOP", "SIGINT")
# What is set before anything runs.
_SETTINGS = (
    # Without it gdb asks the user.
    "set breakpoint pending on",
    "set can-use-hw-watchpoints 1",
    "set charset UTF-8",
    "set confirm off",
    "set detach-on-fork on",
    "set disassembly-flavor att",
    "set follow-fork-mode parent",
    "set height 0",
    # gdb's default is 64 KiB: larger arrays could not be shown.
    "set max-value-size 16777216",
    "set print asm-demangle on",
    "set print object off",
    "set startup-with-shell off",
    "set style enabled off",
    # A called function that receives a signal is given up, and its frame removed.
    "set unwindonsignal on",
    "set width 0",
    # gdb 14 and later: a called function that does not return is given up.
    "set direct-call-timeout 3",
    "set indirect-call-timeout 3",
    "set unwind-on-timeout on",
    # Ours is the only one that sends it, to pause; the program is not to see it.
    "handle SIGSTOP stop print nopass",
)


def part(name: str) -> Any:
    """Load another file of this folder, as a module of its own."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def replaced(name: str, function: Any, **how: Any) -> None:
    """Answer a request ourselves."""
    # gdb asserts that a request is registered only once.
    server._commands.pop(name, None)  # noqa: SLF001 - gdb has no other way
    server.request(name, **how)(function)


def described(stop: Any) -> dict[str, Any]:
    """Return what gdb's own `stopped` event leaves out: signals by name, what was hit."""
    landed: dict[str, Any] = state.describe_landing(getattr(stop, "breakpoints", ()))
    # gdb 16.3's own event names no signal and no exception, and lists every breakpoint at the
    # address. The order: a pause of ours, a signal, the entry, exceptions, breakpoints.
    number = getattr(stop, "stop_signal", None)
    # Only if a pause was requested: the program may send itself the same signal.
    if number in _PAUSING and state.pauses:
        return {"reason": "pause"}
    if number is not None and number != "0":
        return {"reason": "signal", "description": f"{number}: {state.meaning(number)}"}
    # gdb tells all that are at a place, also those whose condition does not hold.
    hit = [one for one in getattr(stop, "breakpoints", ()) if state.counts_hit(one)]
    numbers = [one.number for one in hit if one.number > 0]
    body: dict[str, Any] = {"hitBreakpointIds": numbers}  # also none, in place of gdb's own list
    if not numbers:
        body |= landed
    if state.is_entry and not numbers:
        return {"reason": "entry", "hitBreakpointIds": []}
    if any(one.type == gdb.BP_CATCHPOINT for one in hit):
        return body | {"reason": "exception"}
    if hit and all(getattr(one, "is_function", False) for one in hit):
        return body | {"reason": "function breakpoint"}
    return body


class AdapterState:
    """What is going on; the stop that is being told."""

    def __init__(self) -> None:
        self.pid = 0
        self.stops = 0  # so many were told, the end among them
        self.is_local = False
        self.ran = False  # before a function was called
        self.pauses = False
        self.is_entry = False
        self.is_quiet = False
        self.held: set[int] = set()  # breakpoints that were judged to stop here
        self.stop: dict[str, Any] = {}
        self.execute = _execute_resuming
        self.check_names = check_names
        self.tell_stop = tell_stop
        self.waiting: list[Any] = []  # queues of those who wait for a stop or the end
        # The language of an expression of watched memory (gdb_breaks).
        self.language_of: Any = lambda _expression: nullcontext()
        self.let_go_children: Any = None  # these three are of gdb_forks
        self.await_free: Any = None
        self.hold_child: Any = None
        self.run = _run_to_stop
        self.describe_caught: Any = None  # of gdb_thrown
        self.begin_command: Any = None  # these four are of gdb_caught
        self.takes_stop: Any = None
        self.is_going_on: Any = None
        self.describe_landing: Any = None

    def counts_hit(self, breakpoint_: Any) -> bool:
        """Return whether a breakpoint is one that the program stops for."""
        return not hasattr(breakpoint_, "is_function") or breakpoint_.number in self.held

    @staticmethod
    def signal_name(number: int) -> str:
        """Name a signal."""
        try:
            return signal.Signals(number).name
        except ValueError:
            return f"SIG{number}"  # a real-time signal, as gdb names them

    @staticmethod
    def meaning(name: str) -> str:
        """Say what a signal means."""
        number = getattr(signal, name, None)
        return (signal.strsignal(number) or "") if number is not None else ""


_own_evaluate = evaluating.parse_and_eval
_own_execute = running.exec_and_expect_stop
_send = server.send_event
_send_later = getattr(server, "send_event_maybe_later", server.send_event)


def _complete_event(name: str, body: Any) -> Any:
    """Complete an event of gdb's own."""
    if name == "stopped" and body is not None:
        return {**body, **state.stop}
    if name == "exited" and body is not None:
        return {**body, "exitCode": _exit_code(body)}
    return body


def _exit_code(body: dict[str, Any]) -> int:
    """Return the exit status, or minus the signal: gdb 16 says 0 for a death by a signal."""
    # gdb sets it at a death by a signal, and clears it at the next start.
    number = gdb.convenience_variable("_exitsignal")
    return -int(number) if number is not None else int(body["exitCode"])


def _send_completed(name: str, body: Any = None) -> None:
    # Completed in the function that sends, because gdb sends from several of its modules.
    if not state.is_quiet or name not in _LOUD:
        _send(name, _complete_event(name, body))


def _send_completed_later(name: str, body: Any = None) -> None:
    if not state.is_quiet or name not in _LOUD:
        _send_later(name, _complete_event(name, body))


def _on_stop(stop: Any) -> None:
    if state.takes_stop(stop):
        return
    # Filled in while gdb's own handler sends its event, and empty at all other times.
    state.stop = described(stop)
    is_pause = getattr(stop, "stop_signal", None) in _PAUSING
    # A pause that came too late is still to be seen: its signal waits for the program to run.
    state.pauses, state.is_entry = state.pauses and not is_pause, False
    state.held.clear()
    try:
        events._on_stop(stop)  # noqa: SLF001 - it is what is completed
    finally:
        state.stop = {}
        wake()


def _on_exit(event: Any) -> None:
    state.pid = 0
    state.pauses = state.is_entry = False
    events._on_exit(event)  # noqa: SLF001 - it is what is completed
    wake()


def _execute_resuming(command: str, *more: Any, **how: Any) -> None:
    """Run a command that resumes the program, and see to it that a stop is told.

    gdb 16.3 tells none where the command fails, or a thread that ran alone has ended.
    """
    state.begin_command(command)
    if command.endswith("&"):
        # In the background: gdb answers before the program stops.
        _own_execute(command, *more, **how)
        return
    _run_to_stop(command)


def _run_to_stop(command: str) -> None:
    # The counter shows whether the command has brought a stop or the end; if not, the client would
    # wait for good.
    before, problem = state.stops, "the thread that ran alone has ended"
    # The client knows from the response that the program runs.
    events._suppress_cont = True  # noqa: SLF001 - as gdb's own does
    try:
        gdb.execute(command, from_tty=True, to_string=True)
    except gdb.error as error:
        problem = str(error)
    if state.stops == before and not state.is_going_on():
        events._suppress_cont = events.inferior_running = False  # noqa: SLF001 - the same
        tell_stop("pause", problem)


def _on_inferior_call(event: Any) -> None:
    """Have a call of a function of the program's leave it as stopped, or running, as it was.

    gdb's own handler, which this stands in for, tells a stop after each call.
    """
    if isinstance(event, gdb.InferiorCallPreEvent):
        # A call changes the state to running and back; with nothing to tell, the client sees no
        # stop.
        state.ran = events.inferior_running
    else:
        events.inferior_running = state.ran


def check_names(expression: str) -> None:
    """Refuse a name that gdb finds in another file because the frame's has no variables (-g1).

    gdb looks through the static variables of all files, the C library's among them.

    Raises:
        gdb.error: the expression has such a name.
    """
    try:
        frame = gdb.selected_frame()
        block = frame.block()
    except (gdb.error, RuntimeError):  # no program, or no debug information at all
        return
    # Only in code without variables (-g1) gdb's lookup goes on to other files.
    if not frame.find_sal().symtab or _knows_variables(block):
        return
    # A rough tokenizer is enough: a name too many is looked up, and found in the frame.
    for name in _NAME.findall(expression):
        found = gdb.lookup_symbol(name, block)[0]
        is_value = found is not None and (found.is_variable or found.is_constant)
        # A global of that name is what the user means; a static one of another file is not.
        if is_value and gdb.lookup_global_symbol(name) is None:
            here, file = frame.find_sal().symtab.filename, found.symtab.filename
            text = f"no '{name}' is known here: {here} was compiled without its variables (-g1)"
            raise gdb.error(f"{text}; gdb knows another one: '{file}'::{name}")


def _knows_variables(block: Any) -> bool:
    """Return whether there are types, or variables, in a block, its function or its file."""
    while block is not None:
        if any(not one.is_function for one in block):
            return True
        block = block.superblock
    return False


def _evaluate_expression(expression: str, **how: Any) -> Any:
    """Evaluate; a function that was called and given up leaves gdb 18 thinking that it runs."""
    was_running = events.inferior_running
    if not how.get("global_context"):
        check_names(expression)
    is_c = any(one in expression for one in _IN_C)
    language = gdb.with_parameter("language", "c") if is_c else state.language_of(expression)
    try:
        with language:
            return _own_evaluate(expression, **how)
    finally:
        events.inferior_running = was_running


def _continue_program(**given: Any) -> dict[str, bool]:
    """Let the program run, answered before it does; gdb 18's own tells no stop of some kinds."""
    thread, alone = given["threadId"], bool(given.get("singleThread"))
    prepared = running._handle_thread_step  # noqa: SLF001 - it chooses the thread
    # Selecting the thread may fail, and is answered; the run itself comes after the answer.
    is_alone = server.send_gdb_with_response(lambda: prepared(thread, alone))
    server.send_gdb(lambda: _execute_resuming("continue"))
    return {"allThreadsContinued": not is_alone}


def tell_stop(reason: str, description: str) -> None:
    """Send a `stopped` event of our own, with a thread that is there."""
    body = {"reason": reason, "allThreadsStopped": True, "description": description}
    try:
        thread = gdb.selected_thread()
    # Any thread will do then: the stop belongs to the process.
    except SystemError:  # gdb 16.3's word for one that has ended
        thread = None
    if thread is None or not thread.is_valid() or thread.is_exited():
        thread = min(gdb.selected_inferior().threads(), key=lambda one: one.num, default=None)
    if thread is not None:
        thread.switch()
        body["threadId"] = thread.global_num
    _send("stopped", body)


def wake() -> None:
    """Tell those who wait that the program stopped, or ended."""
    state.stops += 1
    for one in state.waiting:
        one.put(None)
    state.waiting.clear()


def _pause_program(**given: Any) -> None:
    """Stop the program, by a signal that it cannot block, and to it alone.

    gdb's own way is SIGINT, which a program may block, and is sent by gdb's main thread, where it
    waits behind a `continue` that was posted just before.
    """
    del given
    # SIGSTOP by kill(2), from the adapter's own thread: it cannot be blocked or ignored, and does
    # not wait for gdb's main thread. `handle SIGSTOP nopass` keeps it from the program.
    state.pauses = True
    if state.is_local and state.pid:
        _send_stop_signal(state.pid)
    else:
        gdb.post_event(lambda: gdb.execute("interrupt", to_string=True))


def _send_stop_signal(pid: int) -> None:
    """Send the signal to the process, or to a thread that runs alone while the others stay."""
    with suppress(OSError, AttributeError, ImportError):  # not Linux, or no ctypes
        running = [
            one.name for one in Path(f"/proc/{pid}/task").iterdir() if not _is_traced_stop(one)
        ]
        # The main thread is stopped, another one runs alone: a signal to the process would be taken
        # by the stopped one, and nothing would happen.
        if running and str(pid) not in running:
            # A C library without tgkill(2) raises AttributeError: glibc has it since 2.30.
            library = importlib.import_module("ctypes").CDLL(None)
            if library.tgkill(pid, int(running[0]), int(signal.SIGSTOP)) == 0:
                return
    os.kill(pid, signal.SIGSTOP)


def _is_traced_stop(task: Path) -> bool:
    """Return whether a thread is stopped by its debugger (proc(5): stat, the third field)."""
    return (task / "stat").read_text().rpartition(")")[2].split()[0] == "t"


def _on_inferior(event: Any) -> None:
    """Note which process it is, for those who are not in gdb's main thread."""
    inferior = gdb.selected_inferior()
    state.pid = event.inferior_thread.ptid[0]
    state.is_local = inferior.connection is not None and inferior.connection.type == "native"


def _halt_and_wait(within: float) -> None:
    """Stop a running program and wait for it, in the thread of the requests."""
    if not events.inferior_running:
        return
    # This runs in the adapter's thread, which must not touch gdb while the program runs: it is
    # woken by the stop's handler.
    waits = server.DAPQueue()
    state.waiting.append(waits)
    _pause_program()
    with suppress(Exception):  # queue.Empty: it is let go as far as can be
        waits.get(timeout=within)


def _let_go() -> None:
    try:
        gdb.execute("detach", to_string=True)
    except gdb.error:
        gdb.execute("disconnect", to_string=True)


def _end_session(**given: Any) -> None:
    """End; gdb 16.3 kills what it launched, even if it is told not to."""
    if given.get("terminateDebuggee"):
        server.send_gdb_with_response("kill")
    else:
        # gdb detaches from a stopped program only.
        _halt_and_wait(3)
        # Children that wait for a debugger would stop for good.
        state.let_go_children()
        try:
            # gdb 16.3's own disconnect kills a launched program even with terminateDebuggee false.
            server.send_gdb_with_response(_let_go)
        except gdb.error as error:
            server.log(f"cannot detach: {error}")
    server._server.shutdown()  # noqa: SLF001 - as gdb's own does


def _install_parts() -> None:
    with suppress(OSError):  # Linux; started by its loader it is named after that
        Path("/proc/self/comm").write_text("gdb")
    for line in _SETTINGS:
        try:
            gdb.execute(line, to_string=True)
        except gdb.error as error:  # an older gdb
            server.log(f"{line}: {error}")
    # What is no UTF-8 would end gdb's reader of its own output, and then block gdb.
    adapter = server._server  # noqa: SLF001 - gdb has no other way
    stream = getattr(adapter, "child_stream", None) or adapter._child_stream  # noqa: SLF001 - gdb 18
    stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    # The module's own names are replaced: gdb's handlers look them up at each call.
    events.send_event = _send_completed
    events.send_event_maybe_later = _send_completed_later
    gdb.events.stop.disconnect(events._on_stop)  # noqa: SLF001 - completed above
    gdb.events.stop.connect(_on_stop)
    gdb.events.exited.disconnect(events._on_exit)  # noqa: SLF001 - the same
    gdb.events.exited.connect(_on_exit)
    gdb.events.new_thread.connect(_on_inferior)
    gdb.events.inferior_call.disconnect(events._on_inferior_call)  # noqa: SLF001 - the same
    gdb.events.inferior_call.connect(_on_inferior_call)
    evaluating.parse_and_eval = _evaluate_expression
    running.exec_and_expect_stop = _execute_resuming
    replaced("continue", _continue_program, on_dap_thread=True)
    replaced("pause", _pause_program, on_dap_thread=True, expect_stopped=False)
    replaced("disconnect", _end_session, on_dap_thread=True, expect_stopped=False)
    for name in (
        "threads",
        "setFunctionBreakpoints",
        "setInstructionBreakpoints",
        "setExceptionBreakpoints",
    ):
        # They work while the program runs; only gdb's check before them says no.
        # gdb wraps a request in a check that the program is stopped; the function itself is
        # beneath.
        known = server._commands[name]  # noqa: SLF001 - gdb has no other way
        server._commands[name] = getattr(known, "__wrapped__", known)  # noqa: SLF001 - the same
    for name in _PARTS:
        part(name).begin(state, replaced)


def _refuse_version(problem: Exception) -> None:
    """Have no program begin in a gdb that is not as we know it: its answers would be others'."""
    text = f"gdb {gdb.VERSION} is not as its adapter in the debugger needs it: {problem!r}"

    def refused(**given: Any) -> None:
        del given
        raise server.DAPException(text)

    for name in ("launch", "attach", "configurationDone"):
        # The error is an answer that the user sees; raised here, gdb would only print it.
        server._commands[name] = refused  # noqa: SLF001 - gdb has no other way


state = AdapterState()
try:
    _install_parts()
except Exception as error:  # noqa: BLE001 - whatever it is, it is told
    _refuse_version(error)
