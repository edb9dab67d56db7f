"""Types of Rust are named as Rust does, where a debugger names them as C does."""

from __future__ import annotations

import pytest

from debugger.model.statement import rust_type


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("int", "i32"),
        ("unsigned long", "u64 or usize"),
        ("rw::Thing *", "pointer to rw::Thing"),
        ("int *", "pointer to i32"),
        ("Vec<int, alloc::alloc::Global>", "Vec<i32, alloc::alloc::Global>"),
        ("Map<int, (unsigned char,double)>", "Map<i32, (u8,f64)>"),
        ("point<interval>", "point<interval>"),
        ("i32", "i32"),
        ("&mut rw::Thing", "&mut rw::Thing"),
    ],
)
def test_a_type_has_its_name_in_rust(told: str, name: str):
    assert rust_type(told) == name
