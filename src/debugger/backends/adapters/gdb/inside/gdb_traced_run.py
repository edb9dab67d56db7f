"""Runs a program once under gdb, and writes what the plan requests to a file. Run inside gdb.

The plan and the result are JSON files; gdb's own output is of no use to anybody.
"""

from __future__ import annotations

import collections
import contextlib
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

gdb: Any = importlib.import_module("gdb")
_SERVED = Path(os.environ["DEBUGGER_WHY_SERVED"])
_PROGRAM = os.environ["DEBUGGER_WHY_PROGRAM"]
sys.path.insert(0, os.environ["DEBUGGER_WHY_FOLDER"])
memory: Any = importlib.import_module("gdb_memory")
snapshots: Any = importlib.import_module("gdb_snapshots")
returns: Any = importlib.import_module("gdb_returns")
heap: Any = importlib.import_module("gdb_heap")
calls: Any = importlib.import_module("gdb_calls")
departures: Any = importlib.import_module("gdb_departures")
copies: Any = importlib.import_module("gdb_copies")
randoms: Any = importlib.import_module("gdb_random")
searches: Any = importlib.import_module("gdb_searches")
sites: Any = importlib.import_module("gdb_lines")
following: Any = importlib.import_module("gdb_followed")
watching: Any = importlib.import_module("gdb_watches")
importlib.import_module("gdb_expressions").guard_expressions()

_EVENTS_MAX = 48  # last events of each watchpoint that are returned
_SITE_DEEP = 40  # events with a stack of a line or a return that the chain may come by, …
_SITE_HITS = 4000  # … and its hits after which it is no longer recorded
_FATAL = ("SIGSEGV", "SIGABRT", "SIGFPE", "SIGBUS", "SIGILL", "SIGSYS")
# Where a panic of Rust or a report of AddressSanitizer ends the program, with no signal.
_FATAL_CALLS = ("std::panicking::rust_panic", "rust_panic", "__asan_on_error")
_BLOCK_KINDS = ("pointer", "array")
_CONTAINER = re.compile(r"std::(?:__\w+::)?(?:vector|basic_string|string|unique_ptr)\b")
_READS = ("read", "pread64", "recvfrom", "readv", "recvmsg")
# The order of the system call's arguments: x86-64 passes the descriptor and the buffer first.
_READ_NUMBERS = {0: "read", 17: "pread64", 45: "recvfrom"}


_THREADS_S = 1.0  # seconds for the end of gdb's own threads
_LISTED_S = 2.0
_LIBRARIES_MAX = 32  # libraries whose symbols are shared
_LIBRARY = re.compile(r"^\t(?:\S+ => )?(/\S+) \(0x", re.MULTILINE)


class TracedRun:
    """The state of one run: its plan, its events, and its end."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.counts: dict[str, int] = collections.Counter()
        self.events: dict[str, collections.deque[dict[str, Any]]] = {}
        self.sequence = 0
        self.deep = 0
        self.hits = 0
        self.result: dict[str, Any] = {"reached": False, "hits": 0, "notes": [], "hot": []}
        self.result["random"] = []  # what each call of getrandom has given
        self.result["partial"] = []  # keys of watchpoints that did not watch all the time
        self.result["unstored"] = []  # keys whose stores without a change were not seen to the end
        self.result["moved"] = []  # keys of lines without code of their own
        self.signal = ""
        # By the frame's address: the moment of its last call.
        self.entries: dict[str, int] = {}
        # Whether the program has come to its `main`.
        self.has_begun = False
        self.watches: list[Any] = []
        # By the key and the frame: the stack at the last statement that may return.
        self.statements: dict[tuple[str, int], list[dict[str, Any]]] = {}
        self.until = time.monotonic() + plan["seconds"]
        self.is_over = False
        self.searches: list[Any] = []
        # Breakpoints that came too often: they are deleted while the program is stopped.
        self.hot: list[Any] = []
        # Watchpoints that are to be switched on or off while the program is stopped.
        self.switched: list[Any] = []
        # Watchpoints that stop at too many loads.
        self.used: list[Any] = []
        self.forks: Any = following.FollowedForks(plan["forks"])

    def add_event(
        self,
        key: str,
        event: dict[str, Any],
        *,
        is_write: bool,
        frames: list[dict[str, Any]] | None = None,
        is_site: bool = False,
        line: tuple[str, int] | None = None,
        is_shallow: bool = False,
        is_kept: bool = True,
    ) -> dict[str, Any]:
        """Keep an event, with the stack and the operands at it, unless they were read before."""
        is_deep = self.is_next_deep(key, is_site=is_site) and not is_shallow
        self.counts[key] += 1
        self.sequence += 1
        self.deep += is_deep and not is_site
        thread = gdb.selected_thread()
        event.update(
            key=key,
            count=self.counts[key],
            sequence=self.sequence,
            deep=is_deep,
            thread=thread.num if thread is not None else 0,
            frames=[],
        )
        # A stack costs a millisecond: of later events only the number is kept, and a further run
        # goes to the one that matters.
        if is_deep:
            event["thread_name"] = (thread.name or "") if thread is not None else ""
            deep = self.plan["deep_frames"]
            event["frames"] = frames or snapshots.read_frames(
                deep_frames=deep, is_write=is_write, line=line
            )
            event["blocks"] = self.blocks_of(event["frames"])
        if is_kept:
            self.events.setdefault(key, collections.deque(maxlen=_EVENTS_MAX)).append(event)
        return event

    def is_next_deep(self, key: str, *, is_site: bool) -> bool:
        """Return whether the next event of a key has a stack."""
        count = self.counts[key] + 1
        end = self.plan["end"]
        if key == end.get("key") and count == end["count"]:
            return True
        first = self.plan["deep_from"].get(key)
        if is_site:
            return count <= _SITE_DEEP or (first is not None and count >= first)
        return bool(self.deep < self.plan["deep_max"] and count >= (first or 0))

    def is_hot(self, site: Any, hits: int, most: int = _SITE_HITS) -> bool:
        """Return whether a site has come too often; then it is deleted at the next stop."""
        if hits < most or site.key == self.plan["end"].get("key"):
            return False
        self.hot.append(site)
        return True

    def delete_hot(self) -> bool:
        """Delete the sites that came too often; tell whether there were any."""
        hot, self.hot = self.hot, []
        for one in hot:
            if one.is_valid():
                one.delete()
            if one.key not in self.result["hot"]:
                self.result["hot"].append(one.key)
        return bool(hot)

    def switch_watches(self) -> bool:
        """Switch watchpoints of locals on or off; tell whether there were any."""
        switched, self.switched = self.switched, []
        for one in switched:
            if one.is_valid():
                one.enabled = not one.enabled
                one.before = one.read_bytes()
                if one.key not in self.result["partial"]:
                    self.result["partial"].append(one.key)
        return bool(switched)

    def blocks_of(self, frames: list[dict[str, Any]]) -> dict[str, list[int]]:
        """Return the heap blocks of the pointers and arrays of the innermost own statement."""
        if not self.plan.get("blocks"):
            return {}
        found: dict[str, list[int]] = {}
        own = next((one for one in frames if one["vars"]), None)
        for name in snapshots.operands_of(own["statement"]) if own is not None else []:
            value = own["vars"].get(name) if own is not None else None
            is_container = value is not None and _CONTAINER.match(value["type"]) is not None
            if value is None or not (value["kind"] in _BLOCK_KINDS or is_container):
                continue
            is_array = value["kind"] == "array"
            # The containers of C++ begin with the pointer to their items.
            at = value["address"] if is_array else _number_of(value["bytes"][:16])
            if at:
                block = memory.heap_block(at)
                if block is not None:
                    found[name] = [at, *block]
        return found

    def is_end_event(self, key: str) -> bool:
        """Return whether the last event of a key ends the run."""
        end = self.plan["end"]
        return bool(key == end.get("key") and self.counts[key] >= end["count"])

    def is_late(self) -> bool:
        """Return whether the time is up."""
        return bool(time.monotonic() > self.until)


def _number_of(content: str) -> int:
    return int.from_bytes(bytes.fromhex(content), "little")


class ProgramBegin(gdb.Breakpoint):  # type: ignore[misc]
    """A breakpoint at `main`, from which on changes of the stack count.

    The loader uses the same stack before; how many of its writes gdb sees depends on which
    watchpoints are set, and events are found again in another run by their number.
    """

    def __init__(self, run: TracedRun) -> None:
        super().__init__("-qualified -function main", internal=True)
        self._run = run

    def stop(self) -> bool:
        """Begin to count, once."""
        self._run.has_begun = True
        return False


class EntrySite(gdb.Breakpoint):  # type: ignore[misc]
    """A breakpoint at a function, which keeps the moment of the last call of each frame."""

    def __init__(self, run: TracedRun, location: str) -> None:
        super().__init__(location, internal=True)
        self._run, self._location = run, location

    def stop(self) -> bool:
        """Keep the moment of this call."""
        run = self._run
        run.sequence += 1
        older = gdb.newest_frame().older()
        if older is None:
            return run.is_late()
        address = int(older.read_register("rsp"))
        run.entries[str(address)] = run.sequence
        off = [
            one
            for one in run.watches
            if one.owner
            and one.owner[0] == address
            and self._location == f"*{one.owner[1]:#x}"
            and not one.enabled
        ]
        run.switched += off
        return bool(off) or run.is_late()


class EndLocation(gdb.Breakpoint):  # type: ignore[misc]
    """The breakpoint of the location, which ends the run at the requested hit."""

    def __init__(self, run: TracedRun, location: str, *, nth: int, when: str) -> None:
        super().__init__(location, internal=True)
        self._run, self._nth, self._when = run, nth, when

    def stop(self) -> bool:
        """Count a hit at which the condition is true."""
        run = self._run
        if run.is_late():
            run.is_over = True
            return True
        if run.forks.is_before_process():
            return False
        if self._when and not self._is_true():
            return False
        run.hits += 1
        if self._nth < 0 or run.hits < self._nth:
            return False
        run.is_over = run.result["reached"] = True
        return True

    def _is_true(self) -> bool:
        try:
            # Where the run records others, the frame that was selected for them stays so.
            gdb.newest_frame().select()
            return bool(gdb.parse_and_eval(self._when))
        except (gdb.error, ValueError) as error:
            self._run.result["condition_error"] = str(error)
            return False


def _prepare_program(plan: dict[str, Any]) -> None:
    for words in (
        "set confirm off",
        "set pagination off",
        "set width 0",
        # main's own frame is named by the stack pointer of its caller.
        "set backtrace past-main on",
        "set breakpoint pending on",
        "set disable-randomization on",
        "set may-call-functions off",
        "set print thread-events off",
        "set print inferior-events off",
        "set debuginfod enabled off",
        "set can-use-hw-watchpoints 1",
        "set unwindonsignal on",
        "handle all nostop noprint pass",
        "handle SIGTRAP SIGINT stop nopass",
        *(f"handle {one} stop nopass" for one in _FATAL),
    ):
        gdb.execute(words, to_string=True)
    gdb.execute(f"set cwd {plan['cwd']}", to_string=True)
    # A library that was loaded as ./plugin.so is relative to the program's folder, not to gdb's.
    gdb.execute(f"set solib-search-path {plan['cwd']}", to_string=True)
    inferior = gdb.selected_inferior()
    inferior.arguments = plan["args"]
    inferior.clear_env()
    for name, value in plan["env"].items():
        inferior.set_env(name, value)


def _load_symbols(program: str) -> None:
    """Load the symbols of the program and of its libraries, which gdb shares with each run.

    Those of the C library, if its debug information is installed, take longer than a short run.
    """
    gdb.execute("set debuginfod enabled off", to_string=True)
    gdb.execute(f"file {shlex.quote(program)}", to_string=True)
    try:
        command = ["ldd", program]
        listed = subprocess.run(command, capture_output=True, timeout=_LISTED_S, check=False)
    except (OSError, subprocess.SubprocessError):
        return  # then each run loads them
    for path in _LIBRARY.findall(os.fsdecode(listed.stdout))[:_LIBRARIES_MAX]:
        words = f"add-inferior -no-connection -exec {shlex.quote(path)}"
        with contextlib.suppress(gdb.error):
            gdb.execute(words, to_string=True)


def _set_searches(run: TracedRun) -> None:
    for one in run.plan["returns"]:
        if one["calls"]:
            search = searches.CallSearch(run, one)
            run.searches.append(search)
            try:
                search.watch_statement()
            except (gdb.error, RuntimeError) as error:
                run.result["notes"].append(f"no breakpoint at a call: {error}")


def _set_entries(run: TracedRun) -> None:
    for one in run.plan["entries"]:
        try:
            EntrySite(run, one)
        except (gdb.error, RuntimeError):
            continue  # then the moment of the call is not known


def _note_stop(run: TracedRun, event: Any) -> None:
    if isinstance(event, gdb.SignalEvent):
        run.signal = event.stop_signal
    run.forks.note_stop(event)


def _resume_until_end(run: TracedRun) -> None:
    end = run.plan["end"]
    while gdb.selected_inferior().pid:
        run.signal = ""
        gdb.execute("continue", to_string=True)
        if run.is_over or not gdb.selected_inferior().pid:
            return
        is_followed = run.forks.follow_next() or searches.explore_found(run)
        is_switched = run.switch_watches() | watching.replace_used(run)
        if (run.delete_hot() or is_followed or is_switched) and not run.signal:
            continue
        if run.signal in _FATAL:
            run.result["signal"] = run.signal
            run.result["reached"] = end["kind"] == "crash"
            return
        if run.plan["reads"] and not run.signal:
            _note_read(run)
        elif run.signal or run.is_end_event(end.get("key", "")):
            return
        if run.is_late():
            run.is_over = True
            return


def _note_read(run: TracedRun) -> None:
    """Record a system call that has read into watched memory."""
    frame = gdb.newest_frame()
    number = int(frame.read_register("orig_rax"))
    count = int(frame.read_register("rax"))
    name = _READ_NUMBERS.get(number)
    # At the entry of a system call rax holds -ENOSYS.
    if name is None or count <= 0:
        return
    buffer = int(frame.read_register("rsi"))
    descriptor = int(frame.read_register("rdi"))
    for one in run.plan["watches"]:
        if buffer <= one["address"] < buffer + count:
            offset = one["address"] - buffer
            event = {"call": name, "inside": offset, "bytes": count, "descriptor": descriptor}
            # `pread64` has its own position, and leaves the descriptor's alone.
            is_placed = name == "pread64"
            at = offset + (int(frame.read_register("r10")) if is_placed else -count)
            described = watching.describe_descriptor(descriptor, at, from_position=not is_placed)
            event.update(described)
            run.add_event(f"read:{one['key']}", event, is_write=False)


def _describe_end(run: TracedRun) -> None:
    result = run.result
    if not gdb.selected_inferior().pid:
        return
    frames = snapshots.read_frames(is_write=False)
    result["frames"] = frames
    if run.plan["calls"]:
        own = [one["entry"] for one in frames if one["file"] and not one["library"]]
        result["functions"] = calls.read_calls(own, run.plan["calls"])
    if run.plan["heap"]:
        result["heap"] = heap.read_heap()
    thread = gdb.selected_thread()
    result["thread"], result["thread_name"] = thread.num, thread.name or ""
    result["threads"] = len(gdb.selected_inferior().threads())
    result["assigned"] = _read_assigned(run.plan["assigned"], frames)
    expression = run.plan.get("expression")
    if not expression:
        if run.plan["copied"]:
            result["copies"] = copies.find_copies(run.plan["copied"])
        return
    chosen = _frame_of_expression(frames, run.plan["frame"])
    result["frame"] = chosen
    _select_frame(chosen)
    departs = departures.find_departure(expression, run.plan["compared"])
    if departs is not None:
        result["departs"] = departs
        expression += departs["path"]
    try:
        value = snapshots.describe_expression(expression) or snapshots.evaluate(expression)
        result["value"] = value
    except (gdb.error, RuntimeError, ValueError) as error:
        # An element of a container, which gdb reads by a call alone.
        value = result["value"] = snapshots.evaluate(expression)
        result["error"] = str(error) if value is None else None
    operands = snapshots.operands_of(expression)
    result["operands"] = {name: snapshots.evaluate(name) for name in operands}
    if run.plan["finds_copies"] and value is not None:
        result["copies"] = copies.find_copies(value["bytes"])
    result["heap_range"] = memory.heap_range()
    if value is not None and value["address"]:
        result["region"] = memory.region_of(value["address"])
        result["block"] = memory.heap_block(value["address"])


def _read_assigned(expression: str, frames: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the value of a plan's second expression in the innermost own frame."""
    if not expression:
        return None
    _select_frame(_frame_of_expression(frames, 0))
    found: dict[str, Any] | None = snapshots.evaluate(expression)
    return found


def _frame_of_expression(frames: list[dict[str, Any]], chosen: int) -> int:
    if chosen:
        return chosen
    return next((at for at, one in enumerate(frames) if not one["library"] and one["file"]), 0)


def _select_frame(number: int) -> None:
    frame = gdb.newest_frame()
    for _ in range(number):
        frame = frame.older() or frame
    frame.select()


def trace_run(plan: dict[str, Any]) -> dict[str, Any]:
    """Run the program as planned, and return what was seen."""
    run = TracedRun(plan)
    _prepare_program(plan)
    end = plan["end"]
    began = time.monotonic()
    gdb.events.stop.connect(lambda event: _note_stop(run, event))
    gdb.events.exited.connect(
        lambda event: run.result.update(exit_code=getattr(event, "exit_code", None))
    )
    gdb.execute("starti", to_string=True)
    watching.set_watches(run)
    run.has_begun = ProgramBegin(run).pending
    randoms.RandomCall(run)
    sites.set_lines(run)
    returns.set_returns(run)
    _set_searches(run)
    _set_entries(run)
    run.forks.catch_forks()
    if plan["reads"]:
        gdb.execute(f"catch syscall {' '.join(_READS)}", to_string=True)
    if end["kind"] == "location":
        bound = EndLocation(run, end["location"], nth=end["nth"], when=end["when"])
        run.result["pending"] = bound.pending
    if end["kind"] == "crash":
        for name in _FATAL_CALLS:
            EndLocation(run, f"-function {name}", nth=1, when="")
    _resume_until_end(run)
    is_at_event = bool(end.get("key")) and run.is_end_event(end["key"])
    run.result["reached"] = run.result["reached"] or is_at_event
    _describe_end(run)
    watching.finish_watches(run)
    run.result.update(
        hits=run.hits,
        entries=run.entries,
        counts=run.counts,
        late=run.is_late(),
        seconds=time.monotonic() - began,
        events=[one for some in run.events.values() for one in some],
    )
    if gdb.selected_inferior().pid:
        gdb.execute("kill", to_string=True)
    return run.result


def _write_result(plan_file: str, problem: str = "") -> None:
    """Trace the run of a plan, and write the result, or the error."""
    plan = json.loads(Path(plan_file).read_text("utf-8"))
    try:
        result = {"failure": problem} if problem else trace_run(plan)
    except Exception as error:  # noqa: BLE001 - gdb would only print it
        result = {"failure": f"{error}", "trace": traceback.format_exc()}
    draft = Path(plan["result"] + ".draft")
    draft.write_text(json.dumps(result), "utf-8")
    draft.rename(plan["result"])


def _end_threads() -> bool:
    """End the threads with which gdb reads symbols; tell whether none is left."""
    gdb.lookup_global_symbol("main")  # waits until they have read the program's
    gdb.execute("maint set worker-threads 0", to_string=True)
    until = time.monotonic() + _THREADS_S
    while len(list(Path("/proc/self/task").iterdir())) > 1:
        if time.monotonic() > until:
            return False
        time.sleep(0.001)
    return True


def _run_forked(plan_file: str) -> None:
    """Run a plan in a copy of this process, which the run's state ends with."""
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        return
    try:
        # The input is a file, whose offset all copies share.
        with contextlib.suppress(OSError):
            os.lseek(0, 0, os.SEEK_SET)
        gdb.execute("maint set worker-threads unlimited", to_string=True)
        _write_result(plan_file)
    finally:
        os._exit(0)  # what it traces dies with it


def main() -> None:
    """Run the program for each plan whose path is written to the FIFO, until that is closed."""
    problem = ""
    try:
        _load_symbols(_PROGRAM)
    except gdb.error as error:
        problem = str(error)
    can_fork = not problem and _end_threads()
    with (_SERVED / "orders").open(encoding="utf-8") as orders:
        while plan_file := orders.readline().strip():
            if not can_fork:
                _write_result(plan_file, problem)
                break  # the end is the reply: a further run needs a new process
            _run_forked(plan_file)
            (_SERVED / "replies").write_text("\n", "utf-8")
    os._exit(0)


main()
