"""Every import in src points down the table of layers, and every module is small."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from source_trees import parse_text, walk_tree

SRC = Path(__file__).parent.parent / "src"
LINES_MAX = 600
FUNCTION_MAX = 60
# Functions of more lines, each with the reason why it is not divided.
LONG_FUNCTIONS: Mapping[tuple[str, str], str] = {
    ("debugger.cli.commands.member_command", "member"): "an option each",
    ("debugger.cli.commands.output_commands", "events"): "an option each",
    ("debugger.cli.commands.session_commands", "attach"): "an option each",
    ("debugger.cli.commands.session_commands", "start"): "an option each",
    ("debugger.questions.diff.command", "diff"): "an option each",
    ("debugger.questions.hang.command", "hang"): "an option each",
    ("debugger.questions.holds.command", "holds"): "an option each",
    ("debugger.questions.path.command", "path"): "an option each",
    ("debugger.questions.probe.command", "probe"): "an option each",
    ("debugger.questions.who_wrote.command", "who_wrote"): "an option each",
    ("debugger.backends.dap.dap_backend", "__init__"): "makes the parts of the backend",
    ("debugger.mcp.tools.xcode_session", "debug_attach_sim"): "an option each",
    ("debugger.symbols.dwarf.line_program", "_run_sequence"): "a branch for each opcode",
}

# What a module, or all in a package, may import of ours. The longest name that fits counts, a
# package may always import itself, and `errors` may be imported from everywhere.
LAYERS: Mapping[str, tuple[str, ...]] = {
    "debugger": (),
    "debugger.backends": (),
    "debugger.__main__": ("debugger.cli.client",),
    "debugger.cli.client": (
        "debugger.paths",
        "debugger.daemon.protocol",
        "debugger.daemon.transport",
    ),
    "debugger.errors": (),
    "debugger.paths": (),
    "debugger.config": (),
    "debugger.model": (),
    "debugger.output": ("debugger.model",),
    "debugger.sources": ("debugger.model",),
    "debugger.symbols": ("debugger.model", "debugger.sources"),
    "debugger.system": ("debugger.model", "debugger.symbols"),
    "debugger.system.supervisor": (),
    "debugger.system.program_streams": ("debugger.model",),
    "debugger.system.supervised_process": (),
    "debugger.recorders": ("debugger.model", "debugger.sources", "debugger.system"),
    "debugger.recorders.native": (
        "debugger.model",
        "debugger.recorders.counted_recording",
        "debugger.recorders.model",
        "debugger.symbols",
    ),
    "debugger.backends.base": ("debugger.model",),
    "debugger.backends.backend_names": (),
    "debugger.backends.abilities": ("debugger.model",),
    "debugger.backends.expressions": ("debugger.model",),
    "debugger.backends.lldb_text": ("debugger.model",),
    "debugger.backends.native_breakpoints": ("debugger.model", "debugger.symbols"),
    "debugger.backends.wrapped_backend": ("debugger.backends.base", "debugger.model"),
    "debugger.backends.launcher_backend": (
        "debugger.backends.base",
        "debugger.model",
        "debugger.system",
    ),
    "debugger.backends.mapped_backend": (
        "debugger.backends.abilities",
        "debugger.backends.base",
        "debugger.backends.wrapped_backend",
        "debugger.model",
    ),
    "debugger.backends.lldb": (
        "debugger.backends.base",
        "debugger.backends.lldb_text",
        "debugger.backends.native_breakpoints",
        "debugger.model",
        "debugger.symbols",
    ),
    "debugger.backends.lldb.command_line": (
        "debugger.backends.abilities",
        "debugger.backends.backend_names",
        "debugger.backends.base",
        "debugger.backends.expressions",
        "debugger.backends.lldb",
        "debugger.backends.lldb_text",
        "debugger.model",
        "debugger.system",
    ),
    "debugger.backends.inprocess": (
        "debugger.backends.abilities",
        "debugger.backends.backend_names",
        "debugger.backends.base",
        "debugger.backends.expressions",
        "debugger.model",
        "debugger.paths",
        "debugger.symbols",
        "debugger.system",
    ),
    "debugger.backends.dap": (
        "debugger.backends.abilities",
        "debugger.backends.backend_names",
        "debugger.backends.base",
        "debugger.backends.expressions",
        "debugger.backends.lldb",
        "debugger.backends.native_breakpoints",
        "debugger.model",
        "debugger.system",
    ),
    "debugger.backends.adapters": (
        "debugger.backends.abilities",
        "debugger.backends.base",
        "debugger.backends.dap",
        "debugger.backends.lldb",
        "debugger.backends.lldb_text",
        "debugger.backends.native_breakpoints",
        "debugger.model",
        "debugger.paths",  # where adapters are installed
        "debugger.recorders.python.inside",  # debugpy's values are written as the recorder's
        "debugger.sources",
        "debugger.symbols",
        "debugger.system",
    ),
    "debugger.backends.select_backend": (
        "debugger.backends.abilities",
        "debugger.backends.adapters",
        "debugger.backends.backend_names",
        "debugger.backends.base",
        "debugger.backends.dap",
        "debugger.backends.inprocess.backend_abilities",
        "debugger.backends.launcher_backend",
        "debugger.backends.lldb.command_line",
        "debugger.model",
    ),
    "debugger.targets": (
        "debugger.backends",
        "debugger.install.recipes",  # for the command that installs what is missing
        "debugger.model",
        "debugger.paths",
        "debugger.sources",
        "debugger.symbols",
        "debugger.system",
    ),
    "debugger.install": (
        "debugger.backends",
        "debugger.model",
        "debugger.paths",
        "debugger.targets.process_target",  # for doctor
    ),
    "debugger.session.timeline": ("debugger.model",),
    "debugger.session": (
        "debugger.backends.abilities",
        "debugger.backends.base",
        "debugger.model",
        "debugger.sources",
        "debugger.symbols",
        "debugger.system",
    ),
    "debugger.questions": (
        "debugger.backends.abilities",
        "debugger.backends.backend_names",
        "debugger.backends.base",
        "debugger.backends.select_backend",
        "debugger.backends.wrapped_backend",
        "debugger.model",
        "debugger.output",
        "debugger.paths",
        "debugger.recorders",
        "debugger.session",
        "debugger.sources",
        "debugger.symbols",
        "debugger.system",
        "debugger.targets",
    ),
    "debugger.questions.runner": (
        "debugger.backends.backend_names",
        "debugger.backends.base",
        # For limits and the adapter's class, of which a command line may set parts.
        "debugger.backends.dap.debug_adapter",
        "debugger.backends.dap.dap_client",
        "debugger.backends.mapped_backend",
        "debugger.backends.select_backend",
        "debugger.config",
        "debugger.model",
        "debugger.output",
        "debugger.paths",
        "debugger.recorders.trace_server",
        "debugger.session",
        "debugger.symbols",
        "debugger.system",
        "debugger.targets",
    ),
    "debugger.questions.adapter_suite": (
        "debugger.backends.abilities",
        "debugger.backends.base",
        "debugger.backends.dap.debug_adapter",  # it is about an adapter
        "debugger.model",
        "debugger.output",
        "debugger.questions.runner",
        "debugger.session",
        "debugger.system",
        "debugger.targets",
    ),
    "debugger.editors": (
        "debugger.backends.abilities",
        "debugger.backends.base",
        "debugger.backends.dap.dap_transport",  # the frames of messages are the same both ways
        "debugger.backends.select_backend",
        "debugger.model",
        "debugger.questions.runner.command_call",
        "debugger.questions.runner.configured_target",
        "debugger.session",
        "debugger.targets",
    ),
    "debugger.cli.member_process": ("debugger.system.entry_hold",),
    "debugger.cli.editor_pipe": (
        "debugger.cli.editor_configurations",
        "debugger.daemon.protocol",
        "debugger.daemon.transport",
    ),
    "debugger.cli.commands": (
        "debugger.backends.abilities",
        "debugger.backends.backend_names",
        "debugger.backends.base",
        "debugger.backends.select_backend",
        "debugger.config",
        "debugger.install",
        "debugger.model",
        "debugger.questions",
        "debugger.session",
        "debugger.targets",
    ),
    "debugger.cli": ("debugger.model", "debugger.output", "debugger.questions"),
    "debugger.mcp": (
        "debugger.cli",  # for its own options
        "debugger.daemon.daemon_client",
        "debugger.daemon.daemon_process",
        "debugger.daemon.http_listener",
        "debugger.daemon.protocol",
        "debugger.daemon.transport",
        "debugger.model",
        "debugger.paths",
    ),
    "debugger.clients": (
        "debugger.backends.dap.dap_transport",  # it follows a session as an editor does
        "debugger.daemon.daemon_client",
        "debugger.daemon.protocol",
        "debugger.daemon.transport",
        "debugger.paths",
    ),
    "debugger.ui": (
        "debugger.output.picture_style",  # a picture's own style is the only one that it may have
        "debugger.cli",  # for its own options
        "debugger.clients",
        "debugger.daemon.daemon_client",
        "debugger.daemon.http_listener",
        "debugger.daemon.protocol",
        "debugger.daemon.transport",
        "debugger.model",
        "debugger.paths",
    ),
    "debugger.tui": (
        "debugger.cli",  # for its own options
        "debugger.clients",
        "debugger.daemon.daemon_client",
        "debugger.model",
        "debugger.output",
    ),
    "debugger.hosts": (
        "debugger.cli.parser",  # for what a command line asks for
        "debugger.config",
        "debugger.daemon.command_request",
        "debugger.daemon.protocol",
        "debugger.model",
        "debugger.output",
        "debugger.paths",
        "debugger.questions.group.answer",
        "debugger.questions.group.branch_answer",
        "debugger.questions.group.laggards",
        "debugger.questions.group.member_differences",
        "debugger.questions.group.member_wait",
        "debugger.questions.hang.answer",
        "debugger.session.group",
        "debugger.targets.launchers",
    ),
    "debugger.cli.host_pipe": (
        "debugger.cli.editor_pipe",
        "debugger.daemon.daemon_process",
        "debugger.daemon.protocol",
        "debugger.daemon.transport",
        "debugger.paths",
    ),
    "debugger.daemon": ("debugger.paths",),
    "debugger.daemon.__main__": ("debugger.config", "debugger.daemon"),
    "debugger.daemon.dispatch": ("debugger",),
    "debugger.daemon.hint_words": (
        "debugger.daemon.protocol",
        "debugger.errors",
        "debugger.output",
    ),
    "debugger.daemon.protocol": (),
    "debugger.daemon.transport": ("debugger.paths", "debugger.daemon.protocol"),
}

# What holds layers and is none: each backend has a row of its own, and none imports another.
HOLDERS = frozenset({"debugger", "debugger.backends"})

# What may be imported besides, but only inside a function: for start-up time.
LATE: Mapping[str, tuple[str, ...]] = {
    "debugger.cli.client": (
        "debugger.cli",
        "debugger.daemon.daemon_process",
        "debugger.mcp",
        "debugger.targets.launch_json.launch_file",
        "debugger.tui",
        "debugger.ui",
    ),
    # What it brings is an extra, which may not be installed.
    "debugger.backends.select_backend": ("debugger.backends.inprocess",),
}

# Run by path, in a process that knows nothing of us: nobody imports them, nor do they import us.
BY_PATH = frozenset(
    {
        "debugger.system.supervisor",
        "debugger.questions.hang.inside.frame_values",
        "debugger.questions.hang.inside.locks",
        "debugger.questions.hang.inside.snapshot",
        "debugger.questions.hang.inside.tasks",
        "debugger.questions.group.inside.array_values",
        "debugger.questions.group.inside.meetings",
        "debugger.session.inside.member_names",
        "debugger.backends.adapters.debugpy.exit_calls",
        "debugger.backends.adapters.debugpy.sent_code",
        "debugger.backends.adapters.debugpy.run_adapter",
        "debugger.backends.adapters.debugpy.attached.attach_pid_injected",
        "debugger.backends.adapters.debugpy.attached.debugger_in_child",
        "debugger.backends.adapters.debugpy.injector",
        "debugger.backends.adapters.debugpy.kernel_cells",
        "debugger.backends.adapters.debugpy.debuggee_code",
        "debugger.backends.adapters.debugpy.launcher",
        "debugger.backends.adapters.debugpy.server",
        "debugger.backends.adapters.gdb.inside.gdb_requests",
        "debugger.backends.adapters.gdb.inside.gdb_begins",
        "debugger.backends.adapters.gdb.inside.gdb_breaks",
        "debugger.backends.adapters.gdb.inside.gdb_caught",
        "debugger.backends.adapters.gdb.inside.gdb_forks",
        "debugger.backends.adapters.gdb.inside.gdb_inside",
        "debugger.backends.adapters.gdb.inside.gdb_thrown",
        "debugger.backends.adapters.gdb.inside.gdb_snapshots",
        "debugger.backends.adapters.gdb.inside.gdb_calls",
        "debugger.backends.adapters.gdb.inside.gdb_copies",
        "debugger.backends.adapters.gdb.inside.gdb_departures",
        "debugger.backends.adapters.gdb.inside.gdb_heap",
        "debugger.backends.adapters.gdb.inside.gdb_lines",
        "debugger.backends.adapters.gdb.inside.gdb_memory",
        "debugger.backends.adapters.gdb.inside.gdb_paths",
        "debugger.backends.adapters.gdb.inside.gdb_random",
        "debugger.backends.adapters.gdb.inside.gdb_returns",
        "debugger.backends.adapters.gdb.inside.gdb_searches",
        "debugger.backends.adapters.gdb.inside.gdb_statements",
        "debugger.backends.adapters.gdb.inside.gdb_rust",
        "debugger.backends.adapters.gdb.inside.gdb_stores",
        "debugger.backends.adapters.gdb.inside.gdb_texts",
        "debugger.backends.adapters.gdb.inside.gdb_followed",
        "debugger.backends.adapters.gdb.inside.gdb_expressions",
        "debugger.backends.adapters.gdb.inside.gdb_traced_run",
        "debugger.backends.adapters.gdb.inside.gdb_values",
        "debugger.backends.adapters.gdb.inside.gdb_watches",
        "debugger.backends.lldb.lldb_bytes",
        "debugger.backends.lldb.lldb_cpp",
        "debugger.backends.lldb.lldb_caught",
        "debugger.backends.lldb.lldb_holders",
        "debugger.backends.lldb.lldb_rust",
        "debugger.backends.lldb.command_line.inside.lldb_breaks",
        "debugger.backends.lldb.command_line.inside.lldb_events",
        "debugger.backends.lldb.command_line.inside.lldb_inside",
        "debugger.backends.lldb.command_line.inside.lldb_program",
        "debugger.backends.lldb.command_line.inside.lldb_steps",
        "debugger.backends.lldb.command_line.inside.lldb_values",
        "debugger.recorders.native.inside.run_once",
        "debugger.recorders.native.counting_host",
        "debugger.questions.group.entry.sitecustomize",
        "debugger.recorders.python.entry.sitecustomize",
        "debugger.recorders.python.inside.begin",
        "debugger.recorders.python.inside.bytecode",
        "debugger.recorders.python.inside.calls",
        "debugger.recorders.python.inside.code_cache",
        "debugger.recorders.python.inside.compared_monitor",
        "debugger.recorders.python.inside.compared_lines",
        "debugger.recorders.python.inside.call_spots",
        "debugger.recorders.python.inside.counted_code",
        "debugger.recorders.python.inside.further_calls",
        "debugger.recorders.python.inside.checked",
        "debugger.recorders.python.inside.chosen",
        "debugger.recorders.python.inside.code_events",
        "debugger.recorders.python.inside.code_rewriter",
        "debugger.recorders.python.inside.code_splicer",
        "debugger.recorders.python.inside.exec_watch",
        "debugger.recorders.python.inside.function_search",
        "debugger.recorders.python.inside.hooked_calls",
        "debugger.recorders.python.inside.line_edges",
        "debugger.recorders.python.inside.rewritten",
        "debugger.recorders.python.inside.followed",
        "debugger.recorders.python.inside.expressions",
        "debugger.recorders.python.inside.frames",
        "debugger.recorders.python.inside.invariants",
        "debugger.recorders.python.inside.journal",
        "debugger.recorders.python.inside.monitored",
        "debugger.recorders.python.inside.stored",
        "debugger.recorders.python.inside.exit_call",
        "debugger.recorders.python.inside.origin_iterators",
        "debugger.recorders.python.inside.origin_library",
        "debugger.recorders.python.inside.origin_merges",
        "debugger.recorders.python.inside.origin_moves",
        "debugger.recorders.python.inside.origin_removals",
        "debugger.recorders.python.inside.object_marks",
        "debugger.recorders.python.inside.probed",
        "debugger.recorders.python.inside.run_end",
        "debugger.recorders.python.inside.stepped",
        "debugger.recorders.python.inside.input_calls",
        "debugger.recorders.python.inside.origin_arguments",
        "debugger.recorders.python.inside.origin_buffers",
        "debugger.recorders.python.inside.code_numbering",
        "debugger.recorders.python.inside.monitored_numbers",
        "debugger.recorders.python.inside.numbered_calls",
        "debugger.recorders.python.inside.numbered_code",
        "debugger.recorders.python.inside.origin_choice",
        "debugger.recorders.python.inside.origin_codes",
        "debugger.recorders.python.inside.origin_errors",
        "debugger.recorders.python.inside.origin_results",
        "debugger.recorders.python.inside.origin_graph",
        "debugger.recorders.python.inside.origin_hits",
        "debugger.recorders.python.inside.origin_windows",
        "debugger.recorders.python.inside.value_difference",
        "debugger.recorders.python.inside.origin_texts",
        "debugger.recorders.python.inside.origin_copies",
        "debugger.recorders.python.inside.origin_items",
        "debugger.recorders.python.inside.origin_joins",
        "debugger.recorders.python.inside.origin_recorder",
        "debugger.recorders.python.inside.origin_scope",
        "debugger.recorders.python.inside.origin_shared",
        "debugger.recorders.python.inside.origin_sources",
        "debugger.recorders.python.inside.origin_values",
        "debugger.recorders.python.inside.origin_writes",
        "debugger.recorders.python.inside.statement_plans",
        "debugger.recorders.python.inside.value_links",
        "debugger.recorders.python.inside.pytested",
        "debugger.recorders.python.inside.runners",
        "debugger.recorders.python.inside.tested",
        "debugger.recorders.python.inside.known_types",
        "debugger.recorders.python.inside.line_effects",
        "debugger.recorders.python.inside.line_trace",
        "debugger.recorders.python.inside.snapshots",
        "debugger.recorders.python.inside.texts",
        "debugger.recorders.python.inside.tool",
        "debugger.recorders.python.inside.traced",
    }
)
ENTRIES = frozenset({"debugger.__main__", "debugger.daemon.__main__", "debugger.cli.client"})

NO_MSGSPEC = (
    "debugger.cli.client",
    "debugger.errors",
    "debugger.system.supervisor",
    "debugger.paths",
    "debugger.output",
)
NO_ASYNCIO = (
    "debugger.cli.client",
    "debugger.model",
    "debugger.errors",
    "debugger.paths",
    "debugger.output",
)
CLICK_IN = ("debugger.cli.parser", "debugger.daemon.dispatch")
RICH_IN = ("debugger.output",)
MCP_IN = ("debugger.mcp",)
TUI_IN = ("debugger.tui",)
HTTP_IN = (*MCP_IN, "debugger.ui", "debugger.daemon.http_listener")
PSUTIL_IN = ("debugger.system.process_info",)
PICTURES_IN = ("debugger.questions.runner.picture_file",)
FRIDA_IN = (
    "debugger.backends.inprocess",
    "debugger.recorders.native.counting_host",
    "debugger.symbols.dwarf",
)
# The modules there that LLDB itself brings.
INSIDE_LLDB = frozenset({"lldb", "lldb_lookup", "lldb_providers", "rust_types"})


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module; `late` when it stands inside a function."""

    name: str
    line: int
    late: bool = False
    typing: bool = False


@dataclass(frozen=True, slots=True)
class Module:
    """One file of the package, by its dotted name."""

    name: str
    text: str
    is_package: bool = False

    def tree(self) -> ast.Module:
        return parse_text(self.text)


def read(src: Path) -> dict[str, Module]:
    found = {}
    for path in sorted(src.glob("debugger/**/*.py")):
        parts = list(path.relative_to(src).with_suffix("").parts)
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        found[name] = Module(name, path.read_text(encoding="utf-8"), is_package)
    return found


def imports(module: Module, known: Mapping[str, Module]) -> list[Import]:
    return list(_imports(module, module.tree(), known))


def _imports(
    module: Module,
    node: ast.AST,
    known: Mapping[str, Module],
    *,
    late: bool = False,
    typing: bool = False,
) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(alias.name, node.lineno, late, typing)
    elif isinstance(node, ast.ImportFrom):
        base = _absolute(module, node)
        for alias in node.names:
            whole = f"{base}.{alias.name}"
            yield Import(whole if whole in known else base, node.lineno, late, typing)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):  # holds no statement, and most nodes are in one
            continue
        # Only the body is for types: what stands behind `else` is run.
        for_types = isinstance(node, ast.If) and _asks_typing(node.test) and child in node.body
        in_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from _imports(
            module, child, known, late=late or in_function, typing=typing or for_types
        )


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    up = node.level - 1 if module.is_package else node.level
    return ".".join([*parts[: len(parts) - up], *filter(None, [node.module])])


def _asks_typing(test: ast.expr) -> bool:
    return "TYPE_CHECKING" in {
        getattr(test, "id", None),
        getattr(test, "attr", None),
    }


def is_inside(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def layer_of(name: str, layers: Mapping[str, tuple[str, ...]] = LAYERS) -> str:
    """Find the longest name in the table that fits; a holder's row is for its __init__ alone."""
    fitting = [
        one for one in layers if name == one or (one not in HOLDERS and is_inside(name, one))
    ]
    return max(fitting, key=len, default="")


def fault(name: str, imported: Import) -> str | None:
    """Say why a module may not have this import."""
    if is_inside(imported.name, "debugger"):
        return _fault_inside(name, imported)
    return _fault_outside(name, imported)


def _fault_inside(name: str, imported: Import) -> str | None:
    layer = layer_of(name)
    if not layer:
        return "is in no layer of the table"
    if imported.name in BY_PATH:
        return "is run by path, and imported by nobody"
    if name in BY_PATH:
        return "the importing module is run by path, and knows nothing of us"
    # The root holds the version alone.
    if imported.name in {"debugger", "debugger.errors"}:
        return None
    packages = [*LAYERS[layer]]
    if layer not in HOLDERS:
        packages.append(layer)
    if imported.late or imported.typing:
        packages += LATE.get(layer, ())
    if any(is_inside(imported.name, package) for package in packages):
        return None
    return f"{layer} may not import it"


def _fault_outside(name: str, imported: Import) -> str | None:
    def within(places: tuple[str, ...]) -> bool:
        return any(is_inside(name, place) for place in places)

    top = imported.name.partition(".")[0]
    only = {
        "asyncio": (imported.typing or not within(NO_ASYNCIO), "asyncio is for the daemon"),
        "msgspec": (not within(NO_MSGSPEC), "msgspec is too slow to import, or out of place here"),
        "click": (within(CLICK_IN), "click is for the surface"),
        "psutil": (within(PSUTIL_IN), "psutil is read in one place"),
        **{
            name: (within(MCP_IN), "the SDK and what it brings are for the MCP server")
            for name in ("mcp", "mcp_types", "pydantic", "anyio")
        },
        **{
            name: (within(HTTP_IN), "HTTP is for the MCP server and the page")
            for name in ("starlette", "uvicorn")
        },
        **{
            name: (within(FRIDA_IN), "Frida and what reads binaries are for its backend")
            for name in ("frida", "capstone")
        },
        "resvg_py": (
            within(PICTURES_IN) and imported.late,
            "what draws PNG is an extra, for one place",
        ),
        "textual": (within(TUI_IN), "textual is an extra, for the terminal's screen"),
        "rich": (
            within(TUI_IN) or (within(RICH_IN) and (imported.late or imported.typing)),
            "rich is for render, inside functions",
        ),
    }
    if name in BY_PATH and top not in sys.stdlib_module_names and name not in FRIDA_IN:
        inside_lldb = "lldb" in name and top in INSIDE_LLDB
        return None if inside_lldb else "only the standard library there, which runs this file"
    if top in only:
        may, why = only[top]
        return None if may else why
    return None if top in sys.stdlib_module_names else "is none of the dependencies"


def faults_of(module: Module, known: Mapping[str, Module]) -> list[str]:
    return [
        f"{module.name}:{one.line}: {one.name}: {why}"
        for one in imports(module, known)
        if (why := fault(module.name, one)) is not None
    ]


def shape_faults(module: Module) -> list[str]:
    told = []
    tree = module.tree()
    lines = len(module.text.splitlines())
    if lines > LINES_MAX:
        told.append(f"{lines} lines, of at most {LINES_MAX}")
    first, _, rest = (ast.get_docstring(tree) or "").partition("\n")
    if not first:
        told.append("no docstring")
    elif rest and not rest.startswith("\n"):
        told.append("the docstring does not begin with one line")
    elif "?" in first:
        told.append("the docstring is a question")
    for node in walk_tree(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_MAX and (module.name, node.name) not in LONG_FUNCTIONS:
                told.append(f"{node.name} has {length} lines, of at most {FUNCTION_MAX}")
    return [f"{module.name}: {fault}" for fault in told]


def unreachable(known: Mapping[str, Module]) -> set[str]:
    """Name the modules that no entry leads to."""
    reached: set[str] = set()
    waiting = [*ENTRIES, *BY_PATH, *_loaded_by_name(known)]
    # An entry of its own: it is run as `python -m`.
    waiting += [
        name for name, module in known.items() if 'if __name__ == "__main__"' in module.text
    ]
    while waiting:
        name = waiting.pop()
        if name in reached or name not in known:
            continue
        reached.add(name)
        waiting.append(name.rpartition(".")[0])
        waiting.extend(one.name for one in imports(known[name], known))
    return set(known) - reached


def _loaded_by_name(known: Mapping[str, Module]) -> list[str]:
    """Read which modules of commands are loaded by their names."""
    package = known.get("debugger.cli.commands")
    if package is None:
        return []
    for node in walk_tree(package.tree()):
        match node:
            case ast.Assign(targets=[ast.Name(id="_MODULES")], value=value):
                return [f"debugger.{name}" for name in ast.literal_eval(value)]
    return []


MODULES = read(SRC)


def test_a_module_imports_only_what_its_layer_may() -> None:
    faults = {name: faults_of(module, MODULES) for name, module in MODULES.items()}
    assert {name: found for name, found in faults.items() if found} == {}


def test_a_module_is_small_and_says_what_it_is_for() -> None:
    faults = {name: shape_faults(module) for name, module in MODULES.items()}
    assert {name: found for name, found in faults.items() if found} == {}


def test_every_module_is_reached() -> None:
    assert unreachable(MODULES) == set()


def test_the_table_names_only_what_exists() -> None:
    named = {
        *LAYERS,
        *LATE,
        *BY_PATH,
        *ENTRIES,
        *NO_MSGSPEC,
        *NO_ASYNCIO,
        *CLICK_IN,
        *RICH_IN,
        *MCP_IN,
        *PICTURES_IN,
        *FRIDA_IN,
    }
    named |= {one for row in (*LAYERS.values(), *LATE.values()) for one in row}
    assert named - set(MODULES) == set()


# --- the checker itself, on small sources ---


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("debugger.model.events", "import debugger.session.session"),
        ("debugger.model.events", "from debugger import config"),
        ("debugger.model.events", "from debugger.output import format_answer"),
        ("debugger.model.events", "def f():\n    from debugger.session import session"),
        ("debugger.model.events", "from ..session import session"),
        ("debugger.model.events", "import asyncio"),
        ("debugger.model.events", "import click"),
        ("debugger.model.events", "import debugpy"),
        ("debugger.model.events", "import numpy.linalg"),
        ("debugger.model.events", "from debugger.system import supervisor"),
        ("debugger.output.stop_text", "import msgspec"),
        ("debugger.output.stop_text", "import rich"),
        ("debugger.output.stop_text", "from debugger.session.timeline import Timeline"),
        ("debugger.session.session", "from debugger.backends.dap import dap_backend"),
        ("debugger.session.session", "from debugger.backends import select_backend"),
        ("debugger.session.timeline.event_store", "from debugger.session import session"),
        ("debugger.backends.base", "from debugger.backends.dap import dap_backend"),
        ("debugger.system.supervised_process", "from debugger.model import state"),
        ("debugger.system.supervised_process", "from debugger.backends import base"),
        ("debugger.backends.dap.dap_transport", "from debugger.backends import select_backend"),
        ("debugger.backends.dap.dap_transport", "from debugger.session import session"),
        ("debugger.backends.dap.dap_transport", "from debugger.backends.lldb import lldb_rust"),
        ("debugger.backends.nowhere.backend", "from debugger.model import state"),
        ("debugger.backends.dap.dap_transport", "import frida"),
        ("debugger.backends.inprocess.frida_backend", "from debugger.backends.dap import wire"),
        ("debugger.cli.commands.session_commands", "from debugger.backends.dap import dap_client"),
        ("debugger.cli.commands.session_commands", "from debugger.daemon import server"),
        ("debugger.cli.parser", "from debugger.session import session"),
        ("debugger.daemon.transport", "from debugger.daemon import server"),
        ("debugger.daemon.protocol", "from debugger import paths"),
        ("debugger.daemon.server", "from debugger.session import session"),
        ("debugger.cli.client", "from debugger.cli import parser"),
        ("debugger.cli.client", "from debugger.daemon import daemon_process"),
        ("debugger.cli.client", "import msgspec"),
        ("debugger.errors", "from debugger import paths"),
        ("debugger.system.supervisor", "from debugger import errors"),
        ("debugger.system.supervisor", "import msgspec"),
        ("debugger.paths", "from debugger import config"),
        ("debugger.nowhere", "from debugger.model import state"),
    ],
)
def test_the_checker_refuses(name: str, text: str) -> None:
    assert len(faults_of(Module(name, text), MODULES)) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "debugger.model.events",
            "import enum\nimport msgspec\nfrom debugger.errors import ErrorCode",
        ),
        ("debugger.model.events", "from . import value_refs"),
        ("debugger.output.terminal", "def f():\n    from rich.table import Table"),
        ("debugger.session.session", "from debugger.backends.base import Backend"),
        ("debugger.backends.dap.dap_transport", "from debugger.system import program_streams"),
        ("debugger.cli.client", "def f():\n    from debugger.cli import local_answers"),
        ("debugger.cli.client", "from debugger import __version__, paths"),
        (
            "debugger.daemon.dispatch",
            "import click\nfrom debugger.cli.answer_text import format_answer",
        ),
        ("debugger.cli.parser", "import click\nfrom debugger.cli import commands"),
        ("debugger.backends.lldb.lldb_rust", "import lldb"),
        ("debugger.backends.inprocess.engine", "import capstone"),
        (
            "debugger.cli.client",
            "if TYPE_CHECKING:\n    from debugger.daemon import daemon_process",
        ),
    ],
)
def test_the_checker_lets_pass(name: str, text: str) -> None:
    assert faults_of(Module(name, text), MODULES) == []


def test_the_checker_sees_what_stands_behind_else() -> None:
    text = "if TYPE_CHECKING:\n    pass\nelse:\n    import asyncio\n"
    assert len(faults_of(Module("debugger.model.events", text), MODULES)) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import os\n", "no docstring"),
        ('"""One\ntwo."""\n', "does not begin with one line"),
        ('"""What is here?"""\n', "is a question"),
        ('"""One."""\n' + "x = 1\n" * LINES_MAX, "lines, of at most"),
        (
            '"""One."""\ndef long():\n' + "    x = 1\n" * FUNCTION_MAX,
            f"long has {FUNCTION_MAX + 1} lines",
        ),
    ],
)
def test_the_checker_sees_a_bad_shape(text: str, says: str) -> None:
    (told,) = shape_faults(Module("debugger.model.events", text))
    assert says in told


def test_a_function_that_is_excepted_is_long() -> None:
    long = {
        (name, node.name)
        for name, module in MODULES.items()
        for node in walk_tree(module.tree())
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= FUNCTION_MAX
    }
    assert set(LONG_FUNCTIONS) == long


def test_the_checker_lets_a_good_shape_pass() -> None:
    text = '"""One.\n\nMore.\n"""\ndef short():\n' + "    x = 1\n" * (FUNCTION_MAX - 1)
    assert shape_faults(Module("debugger.model.events", text)) == []


def test_the_checker_sees_a_module_that_nobody_imports() -> None:
    known = {
        "debugger": Module("debugger", "", is_package=True),
        "debugger.cli.client": Module("debugger.cli.client", "from debugger import used"),
        "debugger.used": Module("debugger.used", ""),
        "debugger.dead": Module("debugger.dead", "from debugger import used"),
    }
    assert unreachable(known) == {"debugger.dead"}
