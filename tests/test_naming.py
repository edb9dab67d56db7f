"""Rules of naming and size for the modules, classes and functions below src."""

from __future__ import annotations

import ast
import collections
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from source_trees import PACKAGE, parse_package, parse_tests, walk_tree

# Words of the style guide's right column: as a whole name each says nothing by itself.
BANNED_NAMES = frozenset(
    {"told", "asked", "wanted", "seen", "held", "inside", "around", "beside", "left", "standing"}
    | {"counts", "whole", "able", "lay", "kin", "nursery", "bearing"}
)
BANNED_PARTS = frozenset({"told", "asked", "lay", "kin", "nursery", "bearing", "around", "beside"})
ONE_WORD_SHARE = 0.15  # of all functions, at most
LINES_LEAST = 60
# Modules of fewer lines, each with the reason why it stands alone.
SHORT_MODULES: Mapping[str, str] = {
    "questions/runner/started_processes.py": "a choice that several questions make",
    "__main__.py": "an entry point",
    "questions/why/last_write.py": "the one part of a chain that who-wrote reads",
    "backends/lldb/lldb_faults.py": "a quirk of lldb-dap 19, with a state of its own",
    "hosts/first_failure.py": "pure: one moment of all hosts",
    "questions/group/worker_reports.py": "pure: the format in which Ray reports a worker's failure",
    "hosts/host_clock.py": "pure: the bounds of a clock",
    "hosts/own_wheel.py": "the format of a wheel",
    "hosts/path_mapping.py": "pure, beside what sends and receives",
    "daemon/__main__.py": "an entry point",
    "backends/adapters/xdebug/interrupts.py": "a signal's handler in PHP, and no other part of it",
    "backends/adapters/gdb/inside/gdb_followed.py": "one class, run inside gdb",
    "targets/compared_commands.py": "pure: one option, which several questions take",
    "questions/holds/captured_checks.py": "pure, beside the window that reads it",
    "system/java_build_tool.py": "pure, and shared by an adapter and a question",
    "backends/adapters/gdb/inside/gdb_expressions.py": "run inside two kinds of gdb",
    "model/pointers/asan_shadow.py": "pure: one format",
    "model/thread_order.py": "one class, which several questions share",
    "model/typescript_refusal.py": "pure, and shared by several questions",
    "questions/recordings/command.py": "a question's commands stand in a module of their own",
    "backends/backend_names.py": "constants, for what only describes commands",
    "questions/probe/false_conditions.py": "a second run of a probe, and no other part of it",
    "questions/adapter_suite/answer.py": "the answer, which its text and its scenes share",
    "questions/adapter_suite/render.py": "a question's text stands in a module of its own",
    "questions/why/guilty_factor.py": "pure, and shared by two chains",
    "questions/who_wrote/render.py": "a question's text stands in a module of its own",
    "backends/inprocess/backend_abilities.py": "read where Frida is not installed",
    "backends/inprocess/target_access.py": "a boundary: all parts of the backend import it",
    "backends/inprocess/engine/message_frames.py": "shared by two processes",
    "backends/adapters/debugpy/attached/debugger_in_child.py": "runs inside the debuggee",
    "backends/lldb/lldb_bytes.py": "runs inside LLDB",
    "recorders/python/code_folder.py": "the daemon's side of a part that runs in the debuggee",
    "recorders/python/inside/tool.py": "runs inside the debuggee",
    "recorders/python/inside/run_end.py": "runs inside the debuggee",
    "tui/tui_main.py": "an entry point, which runs where textual is not installed",
    "session/idle_watch.py": "would close a circle with anything that it could join",
}
ADAPTER_NAMES = frozenset(
    {"lldb", "lldb-dap", "lldb-cli", "codelldb", "gdb", "debugpy", "delve", "dlv", "js-debug"}
    | {"frida"}
)
# Where an adapter's name is what a user typed, a program's name, or a word of an option.
ADAPTER_NAMES_OUTSIDE = 6
# Programs that run another one, as `gdb --args` does, and whose command lines are translated.
PROGRAM_WORDS = (
    "targets/launch_json/launch_configuration.py",  # the types of the editors' configurations
    "targets/command_line.py",
    "cli/translation/debugger_invocations.py",
)


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for name, tree in parse_package().items():
        for node in walk_tree(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield name, node


def classes() -> Iterator[tuple[str, str]]:
    for name, tree in parse_package().items():
        for node in walk_tree(tree):
            if isinstance(node, ast.ClassDef):
                yield name, node.name


def words_of(name: str) -> list[str]:
    return [one.lower() for one in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)]


def test_a_class_name_is_unique() -> None:
    by_name = collections.defaultdict(set)
    for module, name in classes():
        by_name[name].add(module)
    assert {name: sorted(found) for name, found in by_name.items() if len(found) > 1} == {}


def test_few_functions_have_names_of_one_word() -> None:
    names = [
        node.name.strip("_")
        for _, node in functions()
        if not (node.name.startswith("__") or node.decorator_list)
    ]
    single = [name for name in names if "_" not in name]
    assert len(single) / len(names) <= ONE_WORD_SHARE


def test_no_module_class_or_function_has_a_banned_name() -> None:
    named = [(name, Path(name).stem) for name in parse_package()]
    named += list(classes())
    named += [(module, node.name) for module, node in functions()]
    found = [
        f"{module}: {name}"
        for module, name in named
        if name.strip("_").lower() in BANNED_NAMES or BANNED_PARTS & set(words_of(name))
    ]
    assert found == []


# What a local variable or a parameter must not be called either; `left` is also an operand's side.
BANNED_VARIABLES = frozenset({"told", "said", "asked", "wanted", "held", "kept", "whole", "meant"})
# Parameters by that name, each with its reason.
KEPT_PARAMETERS: Mapping[tuple[str, str], str] = {
    ("backends/lldb/command_line/inside/lldb_breaks.py", "wanted"): "a key of a message",
    ("backends/lldb/command_line/inside/lldb_program.py", "held"): "runs inside LLDB",
}


def variables() -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each parameter and of each variable of a function."""
    for module, node in functions():
        for one in ast.walk(node):
            if isinstance(one, ast.arg):
                yield module, one.arg
            elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                yield module, one.id


def test_no_variable_or_parameter_has_a_banned_name() -> None:
    found = {
        (module, name)
        for module, name in variables()
        if name.strip("_").lower() in BANNED_VARIABLES
    }
    assert found == KEPT_PARAMETERS.keys()


def test_a_module_is_long_enough_to_be_one() -> None:
    short = {
        name
        for name in parse_package()
        if not name.endswith("__init__.py")
        and len((PACKAGE / name).read_text().splitlines()) < LINES_LEAST
    }
    assert short == set(SHORT_MODULES)


def test_the_state_of_a_session_is_written_by_its_own_classes_only() -> None:
    owners = {"session": "session/session.py", "selection": "session/selection.py"}
    owners["cursors"] = "session/process_tree.py"
    found = [
        f"{name}:{node.lineno}: {ast.unparse(target)}"
        for name, tree in parse_package().items()
        if not name.startswith("backends/")
        for node in walk_tree(tree)
        if isinstance(node, ast.Assign | ast.AugAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for one in ast.walk(target)
        if isinstance(one, ast.Attribute)
        and isinstance(one.ctx, ast.Store)
        and name != owners.get(ast.unparse(one.value).rpartition(".")[2].lstrip("_"), name)
    ]
    assert found == []


def test_an_object_of_the_protocol_backend_changes_its_own_attributes_only() -> None:
    found = [
        f"{name}:{node.lineno}: {ast.unparse(one)}"
        for name, tree in parse_package().items()
        if name.startswith("backends/dap/")
        for node in walk_tree(tree)
        if isinstance(node, ast.Assign | ast.AugAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for one in ast.walk(target)
        if isinstance(one, ast.Attribute)
        and isinstance(one.ctx, ast.Store)
        and ast.unparse(one.value) != "self"
    ]
    assert found == []


def test_adapters_are_named_by_the_backends_and_their_installation() -> None:
    found = [
        f"{name}:{node.lineno}: {node.value}"
        for name, tree in parse_package().items()
        if not name.startswith(("backends/", "install/")) and name not in PROGRAM_WORDS
        for node in walk_tree(tree)
        if isinstance(node, ast.Constant) and node.value in ADAPTER_NAMES
    ]
    assert len(found) <= ADAPTER_NAMES_OUTSIDE, found


def test_headers_of_elf_files_are_read_in_one_module() -> None:
    found = {
        name
        for name, tree in parse_package().items()
        for node in walk_tree(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, bytes)
        and node.value.startswith(b"\x7fELF")
    }
    # The second decides by it which files the DWARF reader takes; the third runs inside gdb.
    assert found == {
        "symbols/elf_headers.py",
        "symbols/dwarf/elf_file.py",
        "backends/adapters/gdb/inside/gdb_begins.py",
    }


def code_lines(name: str) -> int:
    """Count the lines of a module that hold code: no comments, docstrings or blank lines."""
    lines: set[int] = set()
    tree = parse_package()[name]
    texts = {
        id(node.value)
        for node in walk_tree(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in walk_tree(tree):
        if isinstance(node, ast.expr | ast.stmt | ast.arg) and not isinstance(node, ast.Module):
            if id(node) in texts or (isinstance(node, ast.Expr) and id(node.value) in texts):
                continue
            lines |= {node.lineno}
            if not isinstance(node, ast.stmt) or not hasattr(node, "body"):
                lines |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    text = (PACKAGE / name).read_text().splitlines()
    return sum(1 for line in lines if text[line - 1].strip() and text[line - 1].strip()[0] != "#")


# Lines of code by folder. A budget may only fall, unless the change that raises it says what it
# bought.
BUDGETS: Mapping[str, int] = {
    ".": 344,
    "backends": 1205,
    "backends/adapters": 12854,
    "backends/dap": 4630,
    "backends/expressions": 1161,
    "backends/inprocess": 11268,
    "backends/lldb": 4056,
    "cli": 2573,
    "cli/commands": 2497,
    "cli/skill": 78,
    "cli/translation": 6654,
    "clients": 156,
    "daemon": 1775,
    "editors": 1992,
    "hosts": 3110,
    "install": 1631,
    "mcp": 2089,
    "mcp/tools": 1532,
    "model": 3730,
    "model/answers": 578,
    "model/pointers": 512,
    "output": 3113,
    "questions": 0,
    "questions/adapter_suite": 488,
    "questions/back": 763,
    "questions/calls": 766,
    "questions/crash": 3840,
    "questions/diff": 1015,
    "questions/group": 4814,
    "questions/hang": 4121,
    "questions/holds": 3030,
    "questions/locations": 873,
    "questions/path": 2057,
    "questions/probe": 3471,
    "questions/recordings": 2822,
    "questions/runner": 2114,
    "questions/test": 3614,
    "questions/try_change": 693,
    "questions/who_wrote": 2261,
    "questions/why": 14013,
    "recorders": 2942,
    "recorders/go": 569,
    "recorders/java": 271,
    "recorders/native": 662,
    "recorders/node": 937,
    "recorders/python": 14763,
    "recorders/script": 276,
    "session": 5531,
    "session/inside": 69,
    "session/pointers": 539,
    "session/timeline": 1694,
    "sources": 3503,
    "symbols": 603,
    "symbols/dwarf": 6308,
    "system": 2586,
    "targets": 2275,
    "targets/launch_json": 887,
    "tui": 2039,
    "ui": 440,
}


def test_no_folder_has_more_lines_than_its_budget() -> None:
    lines: dict[str, int] = collections.Counter()
    for name in parse_package():
        folders = Path(name).parent.parts[:2]
        lines["/".join(folders) or "."] += code_lines(name)
    assert {name: count for name, count in lines.items() if count > BUDGETS.get(name, 0)} == {}


TEXT_LINES_MOST = 15
# Test modules with longer texts, each with what the text is.
LONG_TEXTS: Mapping[str, str] = {
    "dwarf_stops.py": "a script for gdb",
    "e2e/test_launch_json.py": "a launch.json",
    "entry_programs.py": "the head of generated programs",
    "recording/test_window.py": "a program that is rewritten line by line",
    "stepped_program.py": "a script for gdb",
    "unit/backends/adapters/test_debugpy_exceptions.py": "a traceback",
    "unit/model/test_node_report.py": "reports of Node",
    "unit/output/test_answers.py": "answers",
}


def long_texts(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield the texts of more than 15 lines that are no docstrings."""
    docstrings = {
        id(node.body[0].value)
        for node in walk_tree(tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in walk_tree(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value.count("\n") > TEXT_LINES_MOST
            and id(node) not in docstrings
        ):
            yield node


def test_a_debuggee_of_more_than_15_lines_is_a_file() -> None:
    found = {name for name, tree in parse_tests().items() if any(long_texts(tree))}
    assert found == LONG_TEXTS.keys()


def test_no_test_module_begins_with_a_question() -> None:
    asks = [
        name
        for name, tree in parse_tests().items()
        if "?" in (ast.get_docstring(tree) or "").partition("\n")[0]
    ]
    assert asks == []


def test_no_helper_of_tests_has_a_banned_name() -> None:
    named = [(name, Path(name).stem) for name in parse_tests()]
    named += [
        (name, node.name)
        for name, tree in parse_tests().items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not node.name.startswith("test_")
    ]
    found = [
        f"{module}: {name}"
        for module, name in named
        if name.strip("_").lower() in BANNED_NAMES or BANNED_PARTS & set(words_of(name))
    ]
    assert found == []


# A module's own limits: a test passes another limit to what has it.
PRIVATE_CONSTANT = re.compile(r"(?:.*\.)?_[A-Z][A-Z0-9_]*")


def is_patch_of_constant(call: ast.Call) -> bool:
    """Return whether a call is `setattr(module, "_LIMIT_S", …)`, in either spelling."""
    is_named = any(
        isinstance(one, ast.Constant)
        and isinstance(one.value, str)
        and PRIVATE_CONSTANT.fullmatch(one.value) is not None
        for one in call.args[:2]
    )
    return is_named and ast.unparse(call.func).rpartition(".")[2] == "setattr"


def test_no_test_replaces_a_private_constant() -> None:
    found = [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, tree in parse_tests().items()
        for node in walk_tree(tree)
        if (isinstance(node, ast.Call) and is_patch_of_constant(node))
        or (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and PRIVATE_CONSTANT.fullmatch(node.attr) is not None
        )
    ]
    assert found == []


def test_no_unit_test_counts_turns_of_the_event_loop() -> None:
    found = [
        f"{name}:{node.lineno}: begin_task or await_condition of event_loop.py"
        for name, tree in parse_tests().items()
        if name.startswith("unit/")
        for node in walk_tree(tree)
        if isinstance(node, ast.Call)
        and len(node.args) == 1
        and ast.unparse(node) in {"asyncio.sleep(0)", "sleep(0)"}
    ]
    assert found == []
