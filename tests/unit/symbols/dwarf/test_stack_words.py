"""Values of optimised Rust whose address alone is on the stack are not known; others are."""

import shutil
import subprocess

import pytest

from debuggees import program_text
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.scope_variables import WHY

pytestmark = pytest.mark.adapter("frida")

SOURCE = program_text("counted_lines/stack_words.rs")


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    root = tmp_path_factory.mktemp("stackwords")
    (root / "a.rs").write_text(SOURCE)
    rustc = shutil.which("rustc") or pytest.skip("rustc is missing")
    argv = [rustc, "-g", "-Copt-level=2", "-o", str(root / "a"), str(root / "a.rs")]
    subprocess.run(argv, check=True, capture_output=True)
    return BinaryImage(root / "a")


def variables(image, name, *, at):
    (function,) = image.functions.find_by_name(name)
    found = image.scopes.local_variables(function.entry, getattr(function, at))
    return {one.name: one for one in found}


@pytest.mark.parametrize("at", ["address", "body"])
def test_what_rust_passes_by_an_address_on_the_stack_is_not_known(image, at):
    found = variables(image, "rusts", at=at)
    assert [found[name].why for name in ("large", "few")] == [WHY, WHY]
    assert not found["a"].why


@pytest.mark.parametrize("at", ["address", "body"])
def test_what_a_function_of_cs_convention_has_on_the_stack_is_known(image, at):
    found = variables(image, "as_in_c", at=at)
    assert found["large"].place
    assert not found["large"].why
