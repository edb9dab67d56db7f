"""Members of unions and structs without names are shown by every debugger of compiled programs."""

from __future__ import annotations

import pytest

from cli_commands import answer_data, marked_location
from debuggees import build_debuggee

ADAPTERS = [
    pytest.param((option, name), marks=pytest.mark.adapter(name))
    for option, name in (
        ("--adapter", "lldb-dap"),
        ("--adapter", "codelldb"),
        ("--adapter", "gdb"),
        ("--backend", "lldb-cli"),
        ("--backend", "frida"),
    )
]


@pytest.mark.parametrize("by", ADAPTERS)
def test_members_without_a_name_are_shown_with_their_own(cli, by):
    cli(
        "start",
        build_debuggee("anonymous.c"),
        *by,
        "--break",
        marked_location("anonymous.c", "where"),
        check=0,
    )
    shown = answer_data(cli("--json", "print", "*shape", check=0))
    kind, union, struct = shown["children"]
    assert (kind["name"], kind["value"]) == ("kind", "1")
    assert [one["name"].split(" #")[0] for one in (union, struct)] == ["(anonymous)"] * 2
    inner = [answer_data(cli("--json", "vars", one["ref"], check=0)) for one in (union, struct)]
    names = [[one["name"] for one in each["variables"]] for each in inner]
    assert names == [["side", "radius"], ["x", "y"]]
