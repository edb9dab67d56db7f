"""Memory, registers, machine code and number formats."""

from __future__ import annotations

import re

import pytest

from cli_commands import Cli, answer_data, marked_location, start_program

pytestmark = pytest.mark.adapter("lldb-dap")


def test_memory_is_read_and_written_by_address_and_by_variable(cli: Cli) -> None:
    start_program(cli, "corrupt.cpp", "--break", marked_location("corrupt.cpp", "before"))
    read = answer_data(cli("--json", "memory", "read", "&accounts[0]", "--count", "4", check=0))
    assert bytes.fromhex(read["bytes"]) == b"ada\0"
    assert re.fullmatch("0x[0-9a-f]{6,16}", read["address"])
    words = ("memory", "write", read["address"], "45", "56")
    written = answer_data(cli("--json", *words, check=0))
    assert (written["previous"], written["bytes"]) == ("6164", "4556")
    text = answer_data(
        cli("--json", "memory", "read", "&accounts[0]", "--format", "string", check=0)
    )
    assert text["rows"] == [{"address": read["address"], "text": '"EVa"'}]
    field = ("memory", "read", "&accounts[0].balance", "--format", "i32", "--count", "1")
    assert answer_data(cli("--json", *field, check=0))["rows"][0]["text"] == "100"


REFUSED = [
    (("memory", "read", "0x10"), "EVALUATION_FAILED", "0x10"),
    (("memory", "read", "nosuch"), "EVALUATION_FAILED", "nosuch"),
    (("memory", "read", "0x10", "--count", "0"), "USAGE", "--count"),
    (("memory", "read", "0x10", "--count", "99999999"), "USAGE", "65536"),
    (("memory", "read", "0x10", "--format", "roman"), "USAGE", "u16"),
    (("memory", "write", "0x10", "00"), "EVALUATION_FAILED", "0x10"),
    (("memory", "write", "&accounts", "zz"), "USAGE", "zz"),
    (("registers", "nosuch"), "NOT_FOUND", "nosuch"),
    (("disassemble", "0x10"), "EVALUATION_FAILED", "0x10"),
    (("disassemble", "--count", "0"), "USAGE", "--count"),
    (("print", "accounts", "--format", "roman"), "USAGE", "binary"),
    (("print", "3.5", "--format", "hex"), "EVALUATION_FAILED", "3.5"),
    (("watch", "1 + 1"), "EVALUATION_FAILED", "1 + 1"),
    (("watch", "nosuch"), "EVALUATION_FAILED", "nosuch"),
    (("watch", "accounts", "--read", "--access"), "USAGE", "--access"),
    (("watch", "remove"), "USAGE", "--all"),
    (("watch", "remove", "1"), "NOT_FOUND", "another kind"),
    (("catch", "nosuch"), "NOT_FOUND", "throw"),
    (("exception",), "WRONG_STATE", "breakpoint"),
    (("step", "--into", "nosuch"), "NOT_FOUND", "nosuch"),
    (("step", "2", "--into", "total"), "USAGE", "--into"),
    (("jump", "total"), "USAGE", "line"),
    (("jump", "1"), "EVALUATION_FAILED", "1"),
    (("continue", "--thread", "99"), "NOT_FOUND", "99"),
]


def test_what_cannot_be_is_refused_with_a_hint_and_the_stop_stays(cli: Cli) -> None:
    start_program(cli, "corrupt.cpp", "--break", marked_location("corrupt.cpp", "before"))
    for words, code, says in REFUSED:
        refused = cli("--json", *words)
        assert not refused.data["ok"], refused
        error = refused.data["error"]
        assert (error["code"], says in error["message"]) == (code, True), refused
        assert error["hint"]
        assert answer_data(cli("--json", "status", check=0))["state"] == "stopped", words
    assert answer_data(cli("--json", "breakpoint", "list", check=0))["breakpoints"][0]["id"] == 1


def test_registers_are_shown_by_name_by_group_and_all(cli: Cli) -> None:
    start_program(cli, "loop.c", "--break", marked_location("loop.c", "step"))
    (general,) = answer_data(cli("--json", "registers", check=0))["groups"]
    names = {one["name"] for one in general["registers"]}
    assert {"rip", "rsp"} <= names
    (one,) = answer_data(cli("--json", "registers", "rip", check=0))["groups"]
    frame = answer_data(cli("--json", "context", check=0))["frame"]
    assert [int(each["value"], 16) for each in one["registers"]] == [int(frame["address"], 16)]
    assert len(answer_data(cli("--json", "registers", "all", check=0))["groups"]) > 1


def test_machine_code_begins_at_the_program_and_has_its_source(cli: Cli) -> None:
    stop = start_program(cli, "loop.c", "--break", marked_location("loop.c", "step"))
    words = ("disassemble", "--count", "4", "--source")
    found = answer_data(cli("--json", *words, check=0))["instructions"]
    assert [one["current"] for one in found] == [True, False, False, False]
    assert found[0]["address"] == stop["frame"]["address"]
    assert found[0]["line"] == stop["frame"]["line"]
    assert "printf" in found[0]["source"]
    named = answer_data(cli("--json", "disassemble", "sum_to", "--count", "1", check=0))
    assert "push" in named["instructions"][0]["text"]
    stepped = answer_data(cli("--json", "step", "--instruction", check=0))
    assert int(stepped["frame"]["address"], 16) == int(found[1]["address"], 16)


def test_a_breakpoint_at_an_address_stops_there(cli: Cli) -> None:
    start_program(cli, "loop.c", "--break", marked_location("loop.c", "step"))
    found = answer_data(cli("--json", "disassemble", "--count", "3", check=0))["instructions"]
    there = found[2]["address"]
    added = answer_data(cli("--json", "break", f"*{there}", check=0))
    assert (added["kind"], added["verified"]) == ("address", True)
    stop = answer_data(cli("--json", "continue", check=0))
    assert (stop["reason"], stop["hit_breakpoints"]) == ("breakpoint", [added["id"]])
    assert int(stop["frame"]["address"], 16) == int(there, 16)


def test_numbers_are_written_in_other_forms(cli: Cli) -> None:
    start_program(cli, "corrupt.cpp", "--break", marked_location("corrupt.cpp", "before"))

    def shown(expression: str, form: str) -> str:
        words = ("print", expression, "--format", form)
        return str(answer_data(cli("--json", *words, check=0))["value"])

    assert shown("accounts[0].balance", "hex") == "0x64"
    assert shown("-1", "hex") == "0xffffffff"
    assert shown("accounts[0].name[0]", "decimal") == "97"
    assert shown("accounts[0].name[0]", "binary") == "0b1100001"
    assert shown("65", "char") == "65 'A'"
    assert re.fullmatch("0x[0-9a-f]{16}", shown("&accounts", "address"))
    inside = answer_data(cli("--json", "print", "accounts[0]", "--format", "octal", check=0))
    by_name = {one["name"]: one["value"] for one in inside["children"]}
    assert by_name["balance"] == "0o144"


def test_the_program_is_among_its_modules(cli: Cli) -> None:
    start_program(cli, "loop.c", "--break", marked_location("loop.c", "step"))
    found = answer_data(cli("--json", "modules", check=0))["modules"]
    assert any(one["path"].endswith("/loop") for one in found)
    assert any("libc" in one["name"] for one in found)


def test_fields_elements_and_globals_are_set(cli: Cli) -> None:
    start_program(cli, "corrupt.cpp", "--break", marked_location("corrupt.cpp", "before"))
    changed = answer_data(cli("--json", "set", "accounts[1].balance", "70", check=0))
    assert (changed["previous"], changed["value"]) == ("50", "70")
    assert "before 195" in str(answer_data(cli("--json", "next", check=0))["output"])


def test_a_function_is_disassembled_whole_and_no_further(cli: Cli) -> None:
    start_program(cli, "nested.c", "--break", marked_location("nested.c", "deepest"))
    code = answer_data(cli("--json", "disassemble", check=0))["instructions"]
    assert {one["function"] for one in code} == {"down"}
    assert code[0]["text"].startswith("push")
    assert code[-1]["text"].startswith("ret")
    assert sum(one["current"] for one in code) == 1


def test_strings_are_set_with_and_without_quotes(cli: Cli) -> None:
    start_program(cli, "settable.cpp", "--break", marked_location("settable.cpp", "shown"))
    for text in ("new value", '"new value"'):
        assert (
            "new value" in answer_data(cli("--json", "set", "owner.name", text, check=0))["value"]
        )
        assert "new value" in answer_data(cli("--json", "set", "owner.tag", text, check=0))["value"]
    assert "room for 15 bytes" in cli("set", "owner.tag", "x" * 16, check=2).err


@pytest.mark.adapter("frida")
def test_a_string_whose_assign_cannot_be_called_is_refused_as_one(cli: Cli) -> None:
    line = marked_location("settable.cpp", "shown")
    start_program(cli, "settable.cpp", "--backend", "frida", "--break", line)
    failed = cli("set", "owner.name", "new value", check=1)
    assert "is a std::string, whose own assign cannot be called here" in failed.err
    assert "without --backend sets it" in failed.err
    assert cli("set", "owner.tag", "new value", check=0).out.startswith('owner.tag = "new value"')
