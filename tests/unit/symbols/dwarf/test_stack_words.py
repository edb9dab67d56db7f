"""Values of optimised Rust whose address alone is on the stack are not known; others are."""

import shutil
import subprocess

import pytest

from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.scope_variables import WHY

pytestmark = pytest.mark.adapter("frida")

SOURCE = """
use std::hint::black_box;
#[derive(Clone, Copy)]
pub struct Large { a: i64, b: i64, c: i64 }
#[inline(never)]
fn rusts(a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, large: Large, few: [i32; 5]) -> i64 {
    black_box(a + b + c + d + e + f) + black_box(&large).b + black_box(&few)[1] as i64
}
#[inline(never)]
#[no_mangle]
extern "C" fn as_in_c(n: i64, large: Large) -> i64 { black_box(n) + black_box(large.b) }
fn main() {
    let one = || black_box(1);
    let large = black_box(Large { a: 1, b: 2, c: 3 });
    rusts(one(), one(), one(), one(), one(), one(), large, black_box([1, 2, 3, 4, 5]));
    as_in_c(one(), large);
}
"""


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
