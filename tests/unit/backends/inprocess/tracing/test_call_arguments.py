"""Arguments get the registers that the compiler gives them."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from debugger.backends.inprocess.tracing.call_format import (
    RegisterSet,
    argument_places,
    declared_types,
)
from debugger.symbols.dwarf.binary_image import BinaryImage

SOURCE = """
struct two { long a, b; };
struct mixed { long a; double b; };
struct large { long a[3]; };
struct real { float a, b; };
int ints(int a, char b, void *c, long d, short e, unsigned f, int g) { return a; }
int reals(double a, int b, float c, double d, long double e, int f) { return b; }
int records(struct two a, struct mixed b, struct real c, struct large d, int e) { return e; }
int split(int a, int b, int c, int d, int e, struct two f, int g) { return g; }
struct large large(int a) { struct large l = {{a}}; return l; }
struct two small(int a) { struct two l = {a}; return l; }
__int128 wide(__int128 a, int b) { return a + b; }
int main(void) { return 0; }
"""
W, R = RegisterSet.WORD, RegisterSet.REAL


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    root = tmp_path_factory.mktemp("passing")
    (root / "a.c").write_text(SOURCE)
    gcc = shutil.which("gcc") or pytest.skip("gcc is missing")
    subprocess.run([gcc, "-g", "-o", str(root / "a"), str(root / "a.c")], check=True)
    return BinaryImage(root / "a")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ints", [[W, 0], [W, 1], [W, 2], [W, 3], [W, 4], [W, 5], []]),
        ("reals", [[R, 0], [W, 0], [R, 1], [], [], [W, 1]]),
        ("records", [[W, 0, W, 1], [W, 2, R, 0], [R, 1], [], [W, 3]]),
        ("split", [[W, 0], [W, 1], [W, 2], [W, 3], [W, 4], [], [W, 5]]),
        ("large", [[W, 1]]),
        ("small", [[W, 0]]),
        ("wide", [[W, 0, W, 1], [W, 2]]),
    ],
)
def test_each_argument_has_the_register_that_the_compiler_gives_it(image, name, expected):
    (function,) = image.functions.find_by_name(name)
    arguments, _ = declared_types(image, function)
    found = [argument_places(one.place, one.type.size) for one in arguments]
    assert [[word for place in one for word in place] for one in found] == expected
