"""Parameters before the prologue has stored them, and returned values."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.location_evaluation import LocationOperation
from debugger.symbols.dwarf.return_values import is_by_reference, value_of

SOURCE = """
struct Plain { long a, b; };
struct Owner { long a; Owner(const Owner &); ~Owner(); };
struct Holder { Owner owner; };
struct Virtual { virtual int f(); };
int Virtual::f() { return 1; }
struct Defaulted { int a; Defaulted() = default; Defaulted(const Defaulted &) = default; };
struct Extended { long double a; };
Plain plain(int n) { return {n, 2}; }
Owner *owner(Owner one, int n) { return nullptr; }
Holder holder(int n);
Holder *held(Holder one, Virtual two, Defaulted three) { return nullptr; }
Extended extended(short n) { int unset = n; return {(long double)unset}; }
int spilled(int a, int b, int c, int d, int e, int f, int g) { return g; }
int main() { return 0; }
"""
_RDI, _RSI = 5, 4


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    root = tmp_path_factory.mktemp("parameters")
    (root / "a.cpp").write_text(SOURCE)
    gxx = shutil.which("g++") or pytest.skip("g++ is missing")
    subprocess.run([gxx, "-g", "-O0", "-o", str(root / "a"), str(root / "a.cpp")], check=True)
    return BinaryImage(root / "a")


def variables(image, name, *, at="address"):
    (function,) = image.functions.find_by_name(name)
    found = image.scopes.local_variables(function.entry, getattr(function, at))
    return {one.name: one for one in found}


def test_a_parameter_is_at_the_entry_where_the_prologue_takes_it_from(image):
    found = variables(image, "owner")
    assert found["one"].place == (LocationOperation("breg", _RDI, 0),)
    assert found["n"].place == (LocationOperation("reg", _RSI),)


def test_a_parameter_that_the_caller_has_put_on_the_stack_is_there(image):
    place = variables(image, "spilled")["g"].place
    assert place == (LocationOperation("call_frame_cfa"), LocationOperation("plus_uconst", 0))


def test_behind_the_prologue_the_debug_information_holds(image):
    assert variables(image, "owner", at="body")["n"].place[0].name == "fbreg"


def test_a_local_is_not_set_at_the_entry(image):
    assert (
        variables(image, "extended")["unset"].place,
        variables(image, "extended")["unset"].why,
    ) == (
        (),
        "not set yet",
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Plain", False), ("Owner", True), ("Holder", True), ("Virtual", True), ("Defaulted", False)],
)
def test_a_class_that_is_not_copied_bit_by_bit_is_passed_by_reference(image, name, expected):
    assert is_by_reference(image.scopes.type_named(name)) is expected


def test_what_the_x87_returns_is_not_known(image):
    registers = {0: 1, 1: 2, 17: 3, 18: 4}
    assert value_of(image.scopes.type_named("Extended"), registers) is None
    assert value_of(image.scopes.type_named("Owner"), registers).address == 1
    plain = value_of(image.scopes.type_named("Plain"), registers)
    assert plain.content == (1).to_bytes(8, "little") + (2).to_bytes(8, "little")
