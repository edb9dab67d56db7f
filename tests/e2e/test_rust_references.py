"""Elements of Rust's references are those that Rust means, where a debugger reads them as C."""

from __future__ import annotations

import pytest

from cli_commands import marked_location
from debuggees import build_debuggee
from refused_commands import check_refused

ADAPTERS = [pytest.param(one, marks=pytest.mark.adapter(one)) for one in ("lldb-dap", "gdb")]
ELEMENTS = {
    "values[1]": "2",
    "array[1]": "20",
    "slice[1]": "2",
    "bag.items[1]": "5",
    "boxed[1]": "8",
    "*n + 1": "6",
    "n + 1": "6",
    "values[1] + 1": "3",
}
REFUSED = {
    "&values + 1": "takes a reference for a pointer",
    "values[9]": "no element [9]: there are",
}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_element_behind_a_reference_is_shown_or_refused(cli, adapter):
    cli(
        "start",
        build_debuggee("references.rs"),
        "--adapter",
        adapter,
        "--break",
        marked_location("references.rs", "sum"),
        check=0,
    )
    for expression, value in ELEMENTS.items():
        assert cli("print", expression, check=0).out == f"{expression} = {value}\n"
    failed = {"exit": 1, "code": "EVALUATION_FAILED"}
    for expression, says in REFUSED.items():
        check_refused(cli, "print", expression, **failed, hint="debugger print", says=says)
    assert cli("set", "values[1]", "9", check=0).out == "values[1] = 9 (was 2)\n"
    assert cli("print", "values[1]", check=0).out == "values[1] = 9\n"
    # gdb copies the literal's pointer and length over the first words of a String.
    for text in ('"x"', "x"):
        check_refused(cli, "set", "bag.name", text, **failed, hint="debugger set", says="to a text")
    assert cli("print", "bag.name", check=0).out == 'bag.name = "x"\n'


@pytest.mark.adapter("frida")
def test_an_element_behind_a_reference_is_shown_in_process(cli):
    cli(
        "start",
        build_debuggee("references.rs"),
        "--backend",
        "frida",
        "--break",
        marked_location("references.rs", "sum"),
        check=0,
    )
    for expression, value in ELEMENTS.items():
        assert cli("print", expression, check=0).out == f"{expression} = {value}\n"


LLDBS = [pytest.param(one, marks=pytest.mark.adapter(one)) for one in ("lldb-dap", "codelldb")]


@pytest.mark.parametrize("adapter", LLDBS)
def test_a_reference_to_an_enum_shows_the_variant_that_is_there(cli, adapter):
    place = marked_location("references.rs", "sum")
    cli("start", build_debuggee("references.rs"), "--adapter", adapter, "--break", place, check=0)
    lines = cli("print", "step", check=0).out.splitlines()
    fields = [one.strip() for one in lines[1:] if not one.startswith("pointer step: ")]
    if adapter == "codelldb":
        assert fields == ['0 = "U5"', "1 = 4"]
    else:
        assert ' Ride("U5", 4)' in lines[0]
        assert fields == []
    assert cli("print", "lines", check=0).out == 'lines = "first\\n\\"second\\""\n'
    told = cli("print", "n stops", check=1)
    assert told.err.startswith("error: expected an operator between n and stops\n")
