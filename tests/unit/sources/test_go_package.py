"""What of Go a path means: a program, a file, a package, its tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from debugger.sources import project_files
from debugger.symbols.program_file import inspect_program

MAIN = "package main\n\nfunc main() {\n}\n"


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("files", "asked", "mode", "what"),
    [
        ({"tool": "\x7fELF"}, "tool", "exec", "tool"),
        ({"main.go": MAIN}, "main.go", "debug", "main.go"),
        ({"go.mod": "module m", "main.go": MAIN}, "main.go", "debug", ""),
        ({"go.mod": "module m", "cmd/a/main.go": MAIN}, "cmd/a/main.go", "debug", "cmd/a"),
        ({"go.mod": "module m", "a.go": MAIN, "b.go": MAIN}, "a.go", "debug", "a.go"),
        (
            {"go.mod": "module m", "a.go": MAIN, "gen.go": "//go:build ignore\n\n" + MAIN},
            "a.go",
            "debug",
            "",
        ),
        (
            {"go.mod": "module m", "a.go": MAIN, "gen.go": "//go:build ignore\n\n" + MAIN},
            "gen.go",
            "debug",
            "gen.go",
        ),
        ({"x_test.go": "package x\n"}, "x_test.go", "test", ""),
        ({"x.go": "package x\n", "x_test.go": "package x\n"}, "", "test", ""),
        ({"x.go": MAIN, "x_test.go": "package main\n"}, "", "debug", ""),
        ({"x.go": "package x\n"}, "", "debug", ""),
    ],
)
def test_a_path_means_what_it_would_to_go(tmp_path: Path, files, asked, mode, what):
    write(tmp_path, files)
    found = project_files.find_go_target(str(tmp_path / asked) if asked else str(tmp_path))
    expected = str(tmp_path / what) if what else str(tmp_path)
    assert (found.mode, found.what) == (mode, expected)
    assert Path(found.folder).is_dir()


def test_a_folder_with_go_files_is_a_go_program(tmp_path: Path):
    assert inspect_program(str(tmp_path)).language == ""
    write(tmp_path, {"a.go": "package a\n"})
    assert inspect_program(str(tmp_path)).language == "go"


def test_what_is_built_is_never_named_as_a_stream(tmp_path: Path):
    write(tmp_path, {"stdout.go": MAIN})
    assert project_files.find_go_target(str(tmp_path / "stdout.go")).name == "stdout.debug"
