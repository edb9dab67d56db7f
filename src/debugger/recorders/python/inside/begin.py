"""Begins a recording in a program's interpreter, and completes it at the end.

The calls that end or replace a process silently are wrapped: os._exit, exec and fork. Other ends
need no care, because records are written to mapped memory at once (see `journal`).
"""

from __future__ import annotations

import _frozen_importlib_external as _loading
import atexit
import os
import sys
from time import time_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_HERE: str = os.path.dirname(os.path.abspath(globals()["__file__"]))  # noqa: PTH100, PTH120
_HAS_MONITORING: bool = sys.version_info >= (3, 12)  # `sys.monitoring`


class CodePart:
    """The definitions of one of the files in this folder."""

    def __init__(self, name: str) -> None:
        path = os.path.join(_HERE, f"{name}.py")  # noqa: PTH118 - pathlib is slow to import
        module_name = f"debugger_recording_{name}"
        # `get_code` reads and writes the bytecode cache, so that only the first process compiles
        # it. No entry in sys.modules is made: the program must not see our modules.
        code = _loading.SourceFileLoader(module_name, path).get_code(module_name)
        self.__dict__.update({"__name__": module_name, "__file__": path})
        exec(code, self.__dict__)  # type: ignore[arg-type]  # noqa: S102 - it is ours

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class SharedNames:
    """Definitions of several parts under one name, so that no part has to load another."""

    def __init__(self, *parts: CodePart) -> None:
        self._add_parts(parts)

    def add(self, *names: str) -> None:
        """Load more parts."""
        self._add_parts(tuple(map(CodePart, names)))

    def _add_parts(self, parts: tuple[CodePart, ...]) -> None:
        for part in parts:
            for name, one in vars(part).items():
                if not name.startswith("_"):
                    setattr(self, name, one)


def read(path: str) -> dict[str, Any]:
    """Read the order, without an import that the program may not do itself."""
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib is slow to import
        text = file.read()
    try:
        # `json` would import `re` and others, which the program may not have imported.
        from _json import make_scanner
    except ImportError:  # another Python than CPython
        import json

        return dict(json.loads(text))
    found: dict[str, Any] = make_scanner(_OrderScannerOptions)(text, 0)[0]  # type: ignore[arg-type]
    return found


class _OrderScannerOptions:
    """The options that the scanner of `json` requires."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    array_hook = None  # from 3.15 on
    parse_float = float
    parse_int = int
    parse_constant = None
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner's, for one file


class ProcessRecording:
    """The recording of this process, and its completion at the end."""

    def __init__(self, order: dict[str, Any], path: str) -> None:
        self._path = path
        texts, chosen, calls = CodePart("texts"), CodePart("chosen"), CodePart("calls")
        known = CodePart("known_types")
        limits = order["limits"]
        self._order = order
        self._pid = os.getpid()
        journal = CodePart("journal")
        self._journal = journal.RecordJournal(order["folder"], limits["bytes"], limits["files"])
        chooser = chosen.CodeChooser(order)
        room = (limits["text"], limits["items"], limits["depth"])
        write = texts.ValueTexts(*room, known, chooser.file)
        # What the parts want of each other, by name.
        names: tuple[str, ...] = ("frames", "tool", "call_spots", "line_effects", "compared_lines")
        common = [CodePart(name) for name in names]
        shared = SharedNames(*common, chosen, texts)
        self._is_over = False
        # A test run has a recorder of its own, since only failures and one traced test count.
        # Where the lines of single tests are recorded, these are only chosen.
        if order["tests"] and order["lines"] == "none":
            tracing = (CodePart("snapshots"), CodePart("line_trace"), CodePart("runners"))
            shared = SharedNames(CodePart("frames"), chosen, texts, *tracing)
            self._book = self._events = CodePart("tested").FailureRecorder(
                order, self._journal, write, shared
            )
            return
        if order["probes"]:
            parts = (CodePart("expressions"), CodePart("run_end"), CodePart("exit_call"))
            marked = (CodePart("tool"), CodePart("object_marks"))
            shared = SharedNames(CodePart("frames"), chosen, texts, *marked, *parts)
            self._book = CodePart("probed").ProbeRecorder(order, self._journal, write, shared)
            self._events = CodePart("stepped").source(self._book, CodePart("traced"), shared)
            return
        if order["origin"]:
            self._follow_origins(order, write, shared)
            return
        if order["checks"]:
            self._check_invariants(order, write, chosen, texts, journal.encode)
            return
        self._book = calls.CallBook(order, self._journal, chooser, write, shared)
        self._watch: Any = None
        if order["watch"]:
            looked = SharedNames(*common, chosen, texts, CodePart("snapshots"), known)
            self._watch = CodePart("stored").WriteRecorder(self._book, order["watch"], looked)
        if order["tests"]:
            runners = CodePart("runners")
            runners.install(runners.ChosenTests(order["only"]))
        self._follow_calls(shared)

    def _follow_calls(self, shared: SharedNames) -> None:
        """Choose what reports the calls and lines; before 3.12 there is no sys.monitoring."""
        if sys.version_info >= (3, 12) and self._order["is_compared"]:
            shared.add("counted_code", "function_search", "further_calls")
            shared.__dict__["load_part"] = CodePart
            self._events = CodePart("compared_monitor").ComparedMonitor(self._book, shared)
        elif sys.version_info >= (3, 12):
            made = CodePart("monitored").CallMonitor
            self._events = made(self._book, self._watch, shared)
        elif self._can_rewrite():
            shared.add("bytecode", "code_rewriter", "code_splicer", "code_cache", "code_events")
            shared.add("exec_watch", "function_search", "hooked_calls", "line_edges", "rewritten")
            shared.add("traced")
            self._rewrite_calls(shared)
        else:
            self._events = CodePart("traced").CallTracer(self._book, self._watch, shared)

    def _rewrite_calls(self, shared: Any) -> None:
        """Let the program's code report its events itself."""
        book, events = self._book, shared.CodeEvents(self._book, shared)
        book.collect_lines = events.collect_lines
        book.further_calls = events.further_calls
        # Made now, as long as the functions that set tracers are the interpreter's own.
        tracer = shared.CallTracer(book, None, shared)
        self._events = shared.RewrittenCalls(book, shared, events, tracer)

    def _can_rewrite(self) -> bool:
        """Return whether the program's code can report its events itself, which costs less.

        It is not for orders of single functions or values, nor for another Python than 3.11.
        """
        order = self._order
        return (
            sys.version_info[:2] == (3, 11)
            and sys.implementation.name == "cpython"
            and not (order["functions"] or order["watch"])
            and not _looks_at_calls()
            and _find_module(getattr(sys, "orig_argv", [])) != ""  # by `-c`
        )

    def _check_invariants(
        self, order: dict[str, Any], write: Any, chosen: CodePart, texts: CodePart, encode: Any
    ) -> None:
        """Evaluate invariants."""
        names = ("frames", "tool", "followed", "expressions", "run_end")
        invariants = CodePart("invariants")
        shared = SharedNames(*map(CodePart, names), chosen, texts, invariants)
        self._book = invariants.InvariantRecorder(order, self._journal, write, shared, encode)
        self._events = CodePart("checked").source(self._book, CodePart("traced"), shared)

    def _follow_origins(self, order: dict[str, Any], write: Any, known: Any) -> None:
        """Record where the value of one expression comes from."""
        names: tuple[str, ...] = ("value_links", "statement_plans", "input_calls", "origin_scope")
        names += (
            "origin_sources",
            "origin_values",
            "origin_writes",
            "origin_arguments",
            "origin_graph",
            "origin_windows",
            "origin_copies",
            "origin_items",
            "origin_joins",
            "origin_texts",
            "origin_buffers",
            "origin_choice",
            "origin_codes",
            "origin_errors",
            "origin_iterators",
            "origin_library",
            "origin_merges",
            "origin_moves",
            "origin_removals",
            "origin_results",
            "origin_hits",
            "origin_shared",
            "value_difference",
            "run_end",
            "journal",
            "runners",
        )
        names += ("traced",)
        shared: Any = SharedNames(*map(CodePart, names))
        shared.__dict__.update(known.__dict__)
        made = CodePart("origin_recorder").OriginRecorder
        # Each line and return of a recorded call counts, so it is traced in all versions. Other
        # calls are not where the code takes their numbers itself.
        if not self._can_number():
            recorder = self._book = made(order, self._journal, write, shared)
            self._events = shared.CallTracer(recorder, None, shared, recorder.called)
            return
        shared.add("numbered_calls", "code_numbering", "counted_code", "bytecode")
        if _HAS_MONITORING:
            shared.add("tool", "function_search", "monitored_numbers")
        else:
            shared.add("numbered_code", "line_edges", "rewritten", "exec_watch")
        numbered = shared.NumberedCalls(shared)
        self._book = made(order, self._journal, write, shared, numbered)
        numbered.attach(self._book)
        tracer = shared.CallTracer(self._book, None, shared, numbered.on_call)
        follow = shared.MonitoredNumbers if _HAS_MONITORING else shared.NumberedProgram
        self._events = follow(self._book, numbered, tracer, shared)

    def _can_number(self) -> bool:
        """Return whether the program's code can take the numbers of its calls itself."""
        if not _HAS_MONITORING:
            return self._can_rewrite()
        return bool(CodePart("counted_code").can_count()) and not _looks_at_calls()

    def begin(self) -> None:
        """Write the head of the record, and request events."""
        self._write_head(0)
        self._wrap_process_ends()
        if not self._order["tests"]:
            self._set_coverage()
        # Registered before the program's own handlers, so that it runs after all of them.
        atexit.register(self._on_end)
        if not self._events.begin():
            self._book.note("refused", "other tools have taken both numbers of sys.monitoring")

    def _set_coverage(self) -> None:
        """Make a coverage tool trace in Python, which can be combined with our tracer."""
        words = [str(word) for word in getattr(sys, "orig_argv", ())]
        is_measured = any(os.path.basename(word) == "coverage" for word in words)  # noqa: PTH119
        if sys.version_info < (3, 12) and (is_measured or any("--cov" in word for word in words)):
            environ: Any = os.environ
            key = environ.encodekey("COVERAGE_CORE")
            # Only the dictionary behind os.environ: child processes get what they would have got.
            environ._data.setdefault(key, environ.encodevalue("pytrace"))  # noqa: SLF001

    def _write_head(self, parent: int) -> None:
        known = {
            "version": 1,
            "language": "python",
            "interpreter": ".".join(str(part) for part in sys.version_info[:3]),
            "pid": os.getpid(),
            "parent": parent or os.getppid(),
            "is_fork": bool(parent),
            "time_ns": time_ns(),
            "variables": {
                name: os.environ[name][:400]
                for name in self._order["variables"]
                if name in os.environ
            },
            "words": [str(word)[:400] for word in getattr(sys, "orig_argv", ())][:40],
        }
        self._journal.write(["begin", known], last=True)

    def _wrap_process_ends(self) -> None:
        # Of these, `os` itself uses the names in its own module.
        self._act_before("_exit", lambda _arguments: self._book.end())
        for name in ("execv", "execve"):
            self._act_before(name, self._on_exec)
        keep_in_children(self._path)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._on_fork)

    def _act_before(self, name: str, act: Callable[[tuple[Any, ...]], object]) -> None:
        real = getattr(os, name)

        def wrapper(*arguments: Any, **named: Any) -> Any:
            # A child that C code forked has no recording of its own: our fork hook did not run
            # there.
            if not self._is_over and os.getpid() == self._pid:
                act(arguments)
            return real(*arguments, **named)

        wrapper.__name__ = wrapper.__qualname__ = name
        wrapper.__doc__ = real.__doc__
        setattr(os, name, wrapper)

    def _on_exec(self, arguments: tuple[Any, ...]) -> None:
        words = arguments[1] if len(arguments) > 1 and id(type(arguments[1])) in _LISTS else ()
        text = " ".join(word for word in words if type(word) is str)
        self._book.note("exec", text[:400])
        self._book.end()

    def _on_fork(self) -> None:
        parent, self._pid = self._pid, os.getpid()
        # The mapped file is shared with the parent: the child needs one of its own before any
        # record.
        self._journal.open()
        self._book.reset()
        # Where each line is reported once, a child begins again.
        reset = getattr(self._events, "reset", None)
        if reset is not None and not self._order["tests"]:
            reset()
        self._write_head(parent)

    def _on_end(self) -> None:
        if not self._is_over and os.getpid() == self._pid:
            self._is_over = True
            self._events.end()
            self._book.end()
            self._journal.close()


_ENTRY = os.path.join(os.path.dirname(_HERE), "entry")  # noqa: PTH118, PTH120
_ORDER = "DEBUGGER_RECORDING"
_LISTS = frozenset(map(id, (list, tuple)))
_ENVIRONMENT = {"execve": 2, "posix_spawn": 2, "posix_spawnp": 2}  # the place of the argument


def keep_in_children(path: str) -> None:
    """Record also children that get an environment of their own, as a copy of `os.environ`.

    The copy lacks our variables, which are hidden from the program.
    """
    import _posixsubprocess

    for name, at in _ENVIRONMENT.items():
        if hasattr(os, name):
            _change_argument(os, name, at, lambda given: _add_to_mapping(given, path))
    # Of all versions of Python the sixth argument: a list of b"NAME=VALUE", or None.
    _change_argument(_posixsubprocess, "fork_exec", 5, lambda given: _add_to_list(given, path))


def _change_argument(module: Any, name: str, at: int, change: Callable[[Any], Any]) -> None:
    real = getattr(module, name)

    def wrapper(*arguments: Any, **named: Any) -> Any:
        if len(arguments) > at and arguments[at] is not None:
            arguments = (*arguments[:at], change(arguments[at]), *arguments[at + 1 :])
        return real(*arguments, **named)

    wrapper.__name__ = wrapper.__qualname__ = name
    wrapper.__doc__ = real.__doc__
    setattr(module, name, wrapper)


def _add_to_mapping(given: Any, path: str) -> Any:
    try:
        texts = {os.fsencode(name): os.fsencode(text) for name, text in dict(given).items()}
    except (TypeError, ValueError):
        return given  # the program's own error, which the call reports
    pairs = _add_to_list([b"%b=%b" % pair for pair in texts.items()], path)
    return dict(one.split(b"=", 1) for one in pairs)


def _add_to_list(given: Any, path: str) -> Any:
    if id(type(given)) not in _LISTS or not all(type(one) is bytes for one in given):
        return given
    search, order = b"PYTHONPATH=", os.fsencode(_ORDER) + b"="
    if any(one.startswith(order) for one in given):
        return given
    found = [one[len(search) :] for one in given if one.startswith(search)]
    paths = os.pathsep.encode().join([os.fsencode(_ENTRY), *filter(None, found[:1])])
    others = [one for one in given if not one.startswith(search)]
    return [*others, search + paths, order + os.fsencode(path)]


# What runs a program to look at its calls.
_TRACING = ("cProfile", "profile", "pdb", "trace", "coverage")
_VALUED = "WX"  # options of Python that have a value


def _looks_at_calls() -> bool:
    """Return whether the program is about to look at all calls itself."""
    is_interactive = sys.flags.inspect or sys.flags.interactive
    return bool(is_interactive) or _find_module(getattr(sys, "orig_argv", [])) in _TRACING


def _find_module(words: list[str]) -> str | None:
    """Return the module that Python runs; "" for -c, None for a script."""
    rest = iter(words[1:])
    for word in rest:
        if word[:1] != "-" or word[:2] in ("-", "--"):
            return None
        for at, letter in enumerate(word[1:], 2):
            if letter == "c":
                return ""
            if letter == "m":
                return word[at:] or next(rest, None)
            if letter in _VALUED:
                if not word[at:]:
                    next(rest, None)
                break
    return None


def begin(path: str) -> None:
    """Record this process as the order in a file says; without the file, do nothing."""
    try:
        order = read(path)
    except OSError:
        return
    ProcessRecording(order, path).begin()
