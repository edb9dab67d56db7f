"""What runs in the Python of a debugger runs on Python 3.9, which Xcode's LLDB has."""

from __future__ import annotations

import ast
import contextlib
from pathlib import Path

import pytest

import debugger

_ROOT = Path(debugger.__file__).parent / "backends"
_FILES = sorted(
    [
        _ROOT / "lldb" / "lldb_rust.py",
        *(_ROOT / "lldb" / "command_line" / "inside").glob("*.py"),
        *(_ROOT / "adapters" / "gdb" / "inside").glob("*.py"),
    ]
)
_NEWER_NAMES = {"pairwise", "bit_count", "aclosing", "ExceptionGroup", "TaskGroup", "tomllib"}
_NEWER_NAMES |= {"anext", "aiter", "stdlib_module_names", "batched", "StrEnum", "Self"}


def newer(text: str) -> list[str]:
    """Return what of a module's text needs a Python after 3.9."""
    found = []
    for node in ast.walk(ast.parse(text, feature_version=(3, 9))):
        if isinstance(node, ast.Match):
            found.append(f"{node.lineno}: match")
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "id", None) or getattr(node.func, "attr", "")
            found += [
                f"{node.lineno}: {name}({word.arg}=)"
                for word in node.keywords
                if (name, word.arg) in {("zip", "strict"), ("dataclass", "slots")}
            ]
            if name in {"isinstance", "issubclass"} and isinstance(node.args[1], ast.BinOp):
                found.append(f"{node.lineno}: {name}(X | Y)")
        name = getattr(node, "id", None) or getattr(node, "attr", None)
        if name in _NEWER_NAMES:
            found.append(f"{getattr(node, 'lineno', 0)}: {name}")
    return found


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.name)
def test_a_file_for_a_debuggers_python_needs_no_newer_one(file: Path):
    text = file.read_text()
    assert "from __future__ import annotations" in text or "|" not in text
    assert newer(text) == []


@pytest.mark.parametrize(
    "text", ["zip(a, b, strict=True)", "isinstance(a, int | str)", "itertools.pairwise(a)"]
)
def test_what_is_newer_is_found(text: str):
    assert newer(text)


def test_a_match_is_refused_or_found():
    with contextlib.suppress(SyntaxError):
        assert newer("match a:\n    case 1:\n        pass\n")
