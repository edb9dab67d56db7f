"""Texts are shown where the compiler has left a part of their type out."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from debuggees import find_marker, find_source

CLANG = shutil.which("clang++")
pytestmark = pytest.mark.skipif(CLANG is None, reason="clang++ leaves types out")


@pytest.fixture(scope="module")
def declared(tmp_path_factory):
    program = tmp_path_factory.mktemp("declared") / "declared"
    file = find_source("declared.cpp")
    subprocess.run([CLANG, "-g", "-std=c++17", "-o", program, file], check=True)
    return program


@pytest.mark.parametrize(
    "with_",
    [
        pytest.param(("--adapter", "gdb"), marks=pytest.mark.adapter("gdb")),
        pytest.param(("--backend", "frida"), marks=pytest.mark.adapter("frida")),
    ],
)
def test_a_text_whose_type_is_not_complete_is_read(cli, declared, with_):
    place = f"declared.cpp:{find_marker('declared.cpp', 'ready')}"
    cli("start", declared, *with_, "--break", place, check=0)
    assert cli("print", "plain", check=0).out == 'plain = "plain"\n'
    assert '{"a", "b", "a longer text than fits in place"}' in cli("print", "names", check=0).out
    fields = cli("print", "fields", check=0).out
    assert '["one"]' in fields
    assert '["two"]' in fields
