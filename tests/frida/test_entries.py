"""Parameters and results agree with the program and gdb, at entries and behind prologues."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

import entry_oracle
import entry_programs

pytestmark = pytest.mark.adapter("gdb-cli")

# All of them, 400 functions and more in each of these builds, take a quarter of an hour of a
# processor: DEBUGGER_ALL_ENTRIES=1 does those. Optimised builds keep nine in ten as functions.
IS_ALL = os.environ.get("DEBUGGER_ALL_ENTRIES") == "1"
COUNT = 470 if IS_ALL else 20
LEAST = 400 if IS_ALL else 12
LTO = {"c": ["-O2", "-flto"], "cpp": ["-O2", "-flto"], "rs": ["-Copt-level=3", "-Clto=fat"]}
BUILDS = [
    *(
        (language, [*flags])
        for language in ("c", "cpp")
        for flags in (["-O0"], ["-O2"], ["-O3"], LTO[language])
    ),
    *(("rs", [f"-Copt-level={level}"]) for level in (0, 2, 3)),
    ("rs", LTO["rs"]),
]
SAMPLE = [
    ("c", ["-O0"]), ("c", ["-O2"]), ("c", LTO["c"]), ("cpp", ["-O0"]), ("cpp", ["-O3"]),
    ("rs", ["-Copt-level=0"]), ("rs", ["-Copt-level=3"]),
]  # fmt: skip


@pytest.mark.timeout(1800 if IS_ALL else 120)
@pytest.mark.parametrize(("language", "flags"), BUILDS if IS_ALL else SAMPLE, ids="".join)
def test_no_value_differs_from_what_the_program_and_gdb_say(language, flags, tmp_path):
    if language == "rs" and shutil.which("rustc") is None:
        pytest.skip("rustc is missing")
    program = entry_programs.build_program(language, flags, COUNT, 7 if IS_ALL else 1, tmp_path)
    result = entry_oracle.compare_with_gdb(program, tmp_path, language)
    sys.stdout.write(f"{len(result.functions)} functions: {sorted(result.counts.items())}\n")
    assert result.wrong == []
    counts = result.counts
    assert len(result.functions) >= LEAST
    known, unknown = (counts[f"entry, by the program{end}"] for end in ("", ": not known"))
    # Of what the compiler has kept the whole is known without optimisation, most with it.
    assert known > (9 if flags[0] == "-O0" else 1) * unknown
    assert counts["entry, condition"]
    assert counts["trace, by the program"]
