"""Compares split debug information (.dwo, .dwp) with that of a program built in one piece."""

from __future__ import annotations

import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest

from debugger.symbols.dwarf.binary_image import BinaryImage

_SOURCE = Path(__file__).parents[3] / "programs" / "optimised.c"
_COMPILERS = [one for one in ("gcc", "clang-14", "clang") if shutil.which(one)][:2]
_WAYS = list(product(_COMPILERS, (4, 5), (0, 2)))


def _build(compiler: str, folder: Path, *flags: str) -> Path:
    folder.mkdir(exist_ok=True)
    argv = [compiler, "-c", _SOURCE, "-o", "unit.o", *flags]
    subprocess.run(argv, cwd=folder, check=True)
    subprocess.run([compiler, "unit.o", "-o", "program"], cwd=folder, check=True)
    return folder / "program"


def _describe(image: BinaryImage) -> list[str]:
    """List functions, variables with their types and locations at each line, and globals."""
    found = [f"{one} {image.scopes.global_named(one)!r}" for one in image.scopes.global_names]
    for function in sorted(image.functions.find_by_pattern("**"), key=lambda one: one.address):
        found.append(f"{function.name} {function.body:#x} {function.line} {function.ranges}")
        rows = image.lines.unit_rows(image.units.unit_at_address(function.address).offset)
        for address in sorted({function.address, function.body, *rows.address}):
            if any(low <= address < high for low, high in function.ranges):
                known = image.scopes.local_variables(function.entry, address)
                found += [f"{one.name} {one.type.name} {one.place} {one.line}" for one in known]
    return [one.partition(" entry=")[0] for one in found]


@pytest.mark.parametrize(("compiler", "version", "level"), _WAYS)
def test_split_debug_information_is_read_as_that_of_one_piece(compiler, version, level, tmp_path):
    flags = (f"-gdwarf-{version}", f"-O{level}")
    whole = _describe(BinaryImage(_build(compiler, tmp_path / "whole", *flags)))
    program = _build(compiler, tmp_path / "split", *flags, "-gsplit-dwarf")
    image = BinaryImage(program)
    assert len(image.split.found) == 1
    assert _describe(image) == whole
    assert len(whole) > 10


def test_a_package_is_read_in_place_of_the_files_that_it_was_made_of(tmp_path):
    if shutil.which("dwp") is None:
        pytest.skip("binutils' dwp is not installed")
    flags = ("-gdwarf-4", "-O1", "-gsplit-dwarf")
    program = _build("gcc", tmp_path, *flags)
    whole = _describe(BinaryImage(program))
    subprocess.run(["dwp", "-e", program, "-o", f"{program}.dwp"], cwd=tmp_path, check=True)
    for path in tmp_path.glob("*.dwo"):
        path.unlink()
    assert _describe(BinaryImage(program)) == whole


def test_a_missing_file_and_one_of_another_build_are_named(tmp_path):
    program = _build("gcc", tmp_path, "-g", "-gsplit-dwarf")
    file = next(tmp_path.glob("*.dwo"))
    whole = BinaryImage(program)
    known = whole.functions.find_by_pattern("**")[0]
    assert whole.why_incomplete(known.address) == ""
    _build("gcc", tmp_path / "other", "-g", "-O2", "-gsplit-dwarf")
    shutil.copy(next((tmp_path / "other").glob("*.dwo")), file)
    assert (
        BinaryImage(program).why_incomplete()
        == f"debug information is in {file}, which is of another build"
    )
    file.unlink()
    image = BinaryImage(program)
    assert (
        image.why_incomplete(known.address) == f"debug information is in {file}, which is not there"
    )
    assert image.why_incomplete(1) == ""
    # The prologue that sets a frame pointer is passed as with the debug information.
    symbol = image.symbols.symbol_at(known.address)
    assert (image.body_of(symbol), image.split.identity) != (0, whole.split.identity)
    assert image.body_of(symbol) == known.body


def test_a_unit_for_lines_only_says_that_it_has_no_variables(tmp_path):
    image = BinaryImage(_build("gcc", tmp_path, "-g1"))
    symbol = next(one for one in image.binary.read_symbols() if one.name == "main")
    assert image.why_incomplete(symbol.address).endswith(
        "was compiled for lines only (-g1, debuginfo=1)"
    )
    assert BinaryImage(_build("gcc", tmp_path, "-g")).why_incomplete(symbol.address) == ""
