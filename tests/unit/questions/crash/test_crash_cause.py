"""The cause of a crash in one line, from what was inspected where it stopped."""

from __future__ import annotations

from typing import Any

import pytest

from debugger.model.answers import VariableView
from debugger.model.statement import parse_reads
from debugger.questions.crash.crash_cause import explain_crash
from debugger.questions.crash.crash_facts import CrashFacts, is_null, is_zero
from debugger.questions.crash.crash_question import explain_typed_nil
from debugger.questions.crash.memory_fault import THIS


def cause_text(statement: str, **facts: Any) -> tuple[str, str]:
    read = parse_reads(statement, hash_comments=facts.pop("is_python", False))
    known = {"accesses": read.accesses, "operands": read.operands, **facts}
    found = explain_crash(CrashFacts(function="work", place="a.c:7", **known))
    assert found.text.endswith(", in work a.c:7")
    return found.kind, found.text.removesuffix(", in work a.c:7")


def test_a_null_pointer_is_named_with_its_value() -> None:
    assert cause_text(
        "x = list->head->next;",
        signal="SIGSEGV",
        address=8,
        values={"list": "0x5555 {...}", "list->head": "0x0"},
    ) == ("null_pointer", "null pointer: list->head->next, list->head=0x0")


def test_of_several_accesses_the_one_near_the_address_is_the_cause() -> None:
    assert cause_text(
        "*to = from[i];",
        signal="SIGSEGV",
        address=0x7F0000001004,
        address_kind="unmapped",
        address_words="not mapped",
        values={"to": "0x7ffff000", "from": "0x7f0000001000", "i": "1"},
    ) == (
        "bad_pointer",
        "bad pointer: from[i], from=0x7f0000001000 i=1, 0x7f0000001004, not mapped",
    )


@pytest.mark.parametrize(
    ("statement", "values", "address", "culprit"),
    [
        (
            "x = a.next->items[0];",
            {"a": "{next:0x7fff0000004d}", "a.next": "0x7fff0000004d"},
            0x7FFF0000004D,
            "a.next",
        ),
        (
            "show(*r.count);",
            {"r": "{count:0x55550032342d}", "r.count": "0x55550032342d"},
            0x55550032342D,
            "r.count",
        ),
        (
            "puts(x->u.text);",
            {"x": "0x7fffffffe670", "x->u": "{text:0x4d2}", "x->u.text": "0x4d2"},
            0x4D2,
            "x->u.text",
        ),
    ],
)  # fmt: skip
def test_of_a_struct_the_member_is_followed_that_is_the_wrong_pointer(
    statement: str, values: dict[str, str], address: int, culprit: str
) -> None:
    read = parse_reads(statement)
    facts = CrashFacts(
        "work",
        signal="SIGSEGV",
        address=address,
        address_kind="unmapped",
        accesses=read.accesses,
        operands=read.operands,
        values=values,
    )
    assert explain_crash(facts).culprit == culprit


@pytest.mark.parametrize(
    ("statement", "raised", "values", "text", "culprit"),
    [
        (
            "return c.port.value();", ("std::bad_optional_access", "bad optional access"), {},
            "empty: c.port, its value is read (bad_optional_access)", "c.port",
        ),
        (
            "b->on_click(b->id);", ("std::bad_function_call", "bad_function_call"), {"b->id": "3"},
            "empty: b->on_click, it is called (bad_function_call)", "b->on_click",
        ),
        (
            "return prices.at(k);", ("std::out_of_range", "map::at"), {"k": '0x7ffd "plum"'},
            'key k="plum" is not in prices (out_of_range)', "k",
        ),
        (
            'return prices.at("plum");', ("std::out_of_range", "_Map_base::at"), {},
            "the key is not in prices (out_of_range)", "",
        ),
    ],
)  # fmt: skip
def test_an_object_of_cpp_is_named_that_its_exception_does_not_name(
    statement: str, raised: tuple[str, str], values: dict[str, str], text: str, culprit: str
) -> None:
    read = parse_reads(statement)
    facts = CrashFacts(
        "",
        exception=raised[0],
        message=raised[1],
        accesses=read.accesses,
        operands=read.operands,
        called=read.called,
        values=values,
    )
    found = explain_crash(facts)
    assert (found.text, found.culprit) == (text, culprit)


def test_a_pointer_that_is_no_address_is_found_without_the_address() -> None:
    kind, text = cause_text(
        "return a->x + b->x;",
        signal="SIGSEGV",
        address_kind="non_canonical",
        values={"a": "0x7fff0000", "b": "0xdead00000000beef"},
    )
    assert kind == "non_canonical"
    assert "b->x, b=0xdead00000000beef" in text


@pytest.mark.parametrize(
    ("address", "kind", "value"),
    [(None, "non_canonical", "0x6820617461642064"), (0x123456789, "unmapped", "0x123456789")],
)
def test_a_bad_pointer_that_a_library_was_given_is_named(address, kind, value) -> None:
    _, text = cause_text(
        'printf("%s %d", all[i].buf->name, i);',
        signal="SIGSEGV",
        address=address,
        address_kind=kind,
        address_words="not mapped",
        runtime=("__strlen_avx2",),
        values={
            "all": "{{id:1, buf:0x5555555592a0}, ...}",
            "i": "2",
            "all[i]": "{id:3, buf:0x5555555592a0}",
            "all[i].buf": '0x5555555592a0 {name:""}',
            "all[i].buf->name": f'{value} ""',
        },
    )
    assert text.startswith(f"bad pointer: all[i].buf->name={value}, ")


def test_a_null_pointer_that_a_library_was_given_is_named() -> None:
    facts = {"signal": "SIGSEGV", "address": 0, "runtime": ("__strcmp_avx2",)}
    values = {"got": "0x0", "count": "3"}
    text = "if (strcmp(got, names) && count)"
    assert cause_text(text, values=values, **facts) == ("null_pointer", "null pointer: got=0x0")


def test_a_division_by_zero_names_the_divisor() -> None:
    assert cause_text(
        "r = a / (n - 2);", signal="SIGFPE", values={"n-2": "0", "n": "2", "a": "5"}
    ) == (
        "division_by_zero",
        "division by zero: n-2=0 n=2",
    )


def test_a_failed_assertion_is_told_with_its_operands() -> None:
    said = ("prog: a.c:7: work: Assertion `a == b' failed.",)
    assert cause_text(
        "assert(a == b);", signal="SIGABRT", said=said, values={"a": "1", "b": "2"}
    ) == (
        "assertion",
        "assertion failed: a == b with a=1 b=2",
    )


def test_an_abort_after_a_panic_is_the_panic_and_not_the_last_line_of_its_report() -> None:
    said = (
        "\x1b[1mthread 41 panic: index out of bounds: index 9, len 3\x1b[0m",
        "a.zig:19:12: 0x1177752 in fail",
        "    numbers[at] = 1;",
        "           \x1b[32m^\x1b[0m",
    )
    assert cause_text("numbers[at] = 1;", signal="SIGABRT", said=said) == (
        "panic",
        "panic: index out of bounds: index 9, len 3",
    )


@pytest.mark.parametrize("value", ['0x5555555ad798 "x"', '"x"'])
def test_a_pointer_that_could_be_read_is_not_said_to_be_null(value: str) -> None:
    facts = {"signal": "SIGSEGV", "address": 0, "address_kind": "null"}
    text = "return s[0] == 'x' ? *(int *)0 : 0;"
    assert cause_text(text, values={"s": value, "s[0]": "'x'"}, **facts) == (
        "null_pointer",
        "null pointer",
    )


def test_a_recursion_is_told_by_its_depth() -> None:
    facts = {"signal": "SIGSEGV", "address": 0x7FFE0000, "address_kind": "stack_overflow"}
    assert cause_text("return walk(n);", recursion=("walk", 8730), **facts) == (
        "stack_overflow",
        "stack overflow: 8,730 frames of walk",
    )
    _, text = cause_text(
        "return walk(n);", recursion=("walk", 10000), is_recursion_cut=True, **facts
    )
    assert text == "stack overflow: at least 10,000 frames of walk"


@pytest.mark.parametrize(
    ("exception", "message", "statement", "values", "text"),
    [
        (
            "KeyError", "'port'", "cfg['server'][name]", {"name": "'port'"},
            "key 'port' is not in cfg['server'] (KeyError) with name='port'",
        ),
        (
            "IndexError", "list index out of range", "items[at]",
            {"len(items)": "3", "at": "7"},
            "index 7 out of range, items has 3 (IndexError) with at=7",
        ),
        (
            "AttributeError", "'NoneType' object has no attribute 'city'", "a.home.city",
            {"a": "<A>", "a.home": "None"},
            "None: a.home is None, .city of it is read (AttributeError)",
        ),
        (
            "TypeError", "Cannot read properties of undefined (reading 'city')", "a.home.city",
            {"a": "{…}", "a.home": "undefined"},
            "undefined: a.home is undefined, .city of it is read (TypeError)",
        ),
        (
            "NoMethodError", "undefined method 'city' for nil", "order.home.city",
            {"order": "#<Order>", "order.home": "nil"},
            "nil: order.home is nil, .city of it is called (NoMethodError)",
        ),
        (
            "NoMethodError", "undefined method `[]' for nil:NilClass", "total + rows[at]",
            {"total": "1", "rows": "nil", "at": "0"},
            "nil: rows is nil, [at] of it is read (NoMethodError)",
        ),
        (
            "NoMethodError", "undefined method `+' for nil:NilClass", "puts total + 1",
            {"total": "nil"}, "nil: total is nil, + of it is called (NoMethodError)",
        ),
        (
            "Error", "Call to a member function upper() on null", "echo $row->upper();",
            {"$row": "null"}, "null: $row is null, ->upper of it is called (Error)",
        ),
        (
            "ErrorException", 'Attempt to read property "name" on null', "return $a->next->name;",
            {"$a": "Node {}", "$a->next": "null"},
            "null: $a->next is null, ->name of it is read (ErrorException)",
        ),
        (
            "ErrorException", "Trying to access array offset on value of type null",
            "echo $row['x'];", {"$row": "null"},
            "null: $row is null, ['x'] of it is read (ErrorException)",
        ),
        (
            "ErrorException", 'Undefined array key "ink"', "return $prices[$key] * 2;",
            {"$key": "'ink'", "$prices": "['pen' => 2]"},
            "key 'ink' is not in $prices (ErrorException) with $key='ink' $prices=['pen' => 2]",
        ),
        (
            "KeyError", "key not found: :ink", "prices.fetch(key)", {"key": ":ink"},
            "key :ink is not in prices (KeyError) with key=:ink",
        ),
        (
            "runtime.boundsError", "runtime error: index out of range [5] with length 3",
            "numbers[at]", {"at": "5"}, "index 5 out of range, numbers has 3 with at=5",
        ),
        (
            "runtime.errorString",
            "runtime error: invalid memory address or nil pointer dereference",
            "order.customer.name", {"order": "{...}", "order.customer": "*main.Customer nil"},
            "nil pointer: order.customer is nil, .name of it is read",
        ),
        (
            "runtime.errorString",
            "runtime error: invalid memory address or nil pointer dereference",
            "*order.customer", {"order": "{...}", "order.customer": "*main.Customer nil"},
            "nil pointer: order.customer is nil, what it points to is read",
        ),
        (
            "panic", "called `Option::unwrap()` on a `None` value", "map.get(key).unwrap()",
            {"key": '"tsp"'}, 'unwrap() of None with key="tsp"',
        ),
        (
            "panic", "assertion `left == right` failed: sums\n  left: 1\n right: 2", "x", {},
            "assertion failed: left == right (sums), left=1 right=2",
        ),
        (
            "std::out_of_range",
            "vector::_M_range_check: __n (which is 7) >= this->size() (which is 3)",
            "items.at(n)", {"n": "7", "items": "size=3"},
            "index 7 out of range, items has 3 (out_of_range) with n=7",
        ),
        ("std::_Nested_exception<std::logic_error>", "bad", "x", {}, "logic_error: bad"),
        ("app::Error<app::Kind>", "bad", "x", {}, "Error<app::Kind>: bad"),
        ("ZeroDivisionError", "division by zero", "a / b", {"b": "0"},
         "division by zero: b is 0 (ZeroDivisionError)"),
        ("DivisionByZeroError", "Division by zero", "$a / $b", {"$b": "null"},
         "division by zero: $b is null (DivisionByZeroError)"),
        ("java.lang.ArithmeticException", "/ by zero", "a / b[i]", {"b[i]": "0", "i": "2"},
         "division by zero: b[i] is 0 (ArithmeticException) with i=2"),
        ("java.lang.ArithmeticException", "/ by zero", "a.half()", {},
         "ArithmeticException: / by zero"),
        ("KeyError", "'NAME'", "os.environ['NAME']", {"os.environ": "environ({'TOKEN': 'x'})"},
         "key 'NAME' is not in os.environ (KeyError)"),
        ("KeyError", 'key not found: "NAME"', 'ENV.fetch("NAME")', {"ENV": '{"TOKEN"=>"x"}'},
         'key "NAME" is not in ENV (KeyError)'),
        ("KeyError", "'k'", "row.pop(key)", {"key": "'k'"},
         "key 'k' is not in row (KeyError) with key='k'"),
        ("IndexError", "pop from empty list", "rows.pop()", {"rows": "[]"},
         "pop from empty list (IndexError) with rows=[]"),
        ("IndexError", "index 2 outside of array bounds: -1...1", "rows.fetch(2)", {"rows": "[5]"},
         "index 2 out of range, rows has 1 (IndexError)"),
        ("RangeError", "Division by zero", "a / n", {"n": "0n"},
         "division by zero: n is 0 (RangeError)"),
        ("shop.Refused", "no such order: 7", "raise Refused(n)", {}, "Refused: no such order: 7"),
    ],
)  # fmt: skip
def test_an_exception_is_told_in_terms_of_its_statement(
    exception: str, message: str, statement: str, values: dict[str, str], text: str
) -> None:
    facts = {"exception": exception, "message": message, "values": values}
    assert cause_text(statement, **facts)[1] == text


def test_a_sanitizers_report_names_the_pointer_and_its_history() -> None:
    said = (
        "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000014 at pc 0x5",
        "READ of size 4 at 0x602000000014 thread T0",
        "0x602000000014 is located 4 bytes inside of 12-byte region [0x602000000010,0x6c)",
        "freed by thread T0 here:",
        "    #0 0x7ffff in free ../libsanitizer/asan/asan_malloc_linux.cpp:52",
        "    #1 0x55555 in drop /src/a.c:9",
    )
    read = parse_reads("x = p[1] + q->n;")
    found = explain_crash(
        CrashFacts(
            function="work",
            accesses=read.accesses,
            values={"p": "0x602000000010", "q": "0x7ffe0000"},
            said=said,
        )
    )
    assert found.kind == "use_after_free"
    assert found.text == (
        "use after free (ASan), read of 4 bytes, 4 bytes into a block of 12: p[1], "
        "p=0x602000000010, in work"
    )
    assert found.notes == ("freed in drop a.c:9",)


@pytest.mark.parametrize(
    "value", ["0x0", "0x0000000000000000", "(node *) 0x0", "NULL", "nil", "None", "*main.T nil"]
)
def test_nothing_is_known_in_every_language(value: str) -> None:
    assert is_null(value)


@pytest.mark.parametrize("value", ["0x10", "0x01f0", "7", "nothing", "'None'", "size=0"])
def test_something_is_not_taken_for_nothing(value: str) -> None:
    assert not is_null(value)


def test_zero_is_a_number() -> None:
    assert all(map(is_zero, ("0", "0.0", "-0", "0n")))
    assert not any(map(is_zero, ("0.5", "10", "0x0", "")))


def test_a_method_that_was_called_of_a_null_pointer_is_told_by_its_this() -> None:
    read = parse_reads("for (Attribute *a = _first; a; a = a->_next) {")
    facts = {"signal": "SIGSEGV", "address": 0x70, "accesses": (*read.accesses, THIS)}
    assert cause_text("", values={"this": "0x0"}, **facts) == (
        "null_pointer",
        "null pointer: this=0x0",
    )


def test_a_pointer_whose_value_is_not_known_is_only_perhaps_the_null_pointer() -> None:
    facts = {"signal": "SIGSEGV", "address": 0x40}
    assert cause_text("a = a->_next;", **facts)[1] == "null pointer, perhaps a->_next, at 0x40"


def test_a_panic_of_an_assertion_with_a_message_names_the_operand_of_its_condition() -> None:
    facts = CrashFacts(
        "put", exception="panic", message="no bit 29 of 29", is_panic=True,
        asserted=("bit",), values={"bit": "29"},
    )  # fmt: skip
    found = explain_crash(facts)
    assert (found.kind, found.culprit) == ("panic", "bit")
    plain = CrashFacts("put", exception="panic", message="no bit 29 of 29", is_panic=True)
    assert explain_crash(plain).culprit == ""


@pytest.mark.parametrize(
    ("exception", "message", "values", "culprit"),
    [
        ("ValueError", "invalid literal: 'x'", {"total": "19", "limit": "'x'"}, "limit"),
        ("ValueError", "invalid literal: 'x'", {"total": "'x'", "limit": "'x'"}, ""),
        ("ValueError", "month must be in 1..12", {"date": "'2024-13-01'"}, "date"),
        ("ValueError", "month", {"date": "'13'", "datetime": "<module 'datetime'>"}, "date"),
        ("ValueError", "no reason", {"total": "19", "limit": "4"}, ""),
        ("TypeError", "for +: 'int' and 'str'", {"total": "19", "limit": "'4'"}, "limit"),
        ("TypeError", "for +: 'int' and 'NoneType'", {"total": "19", "limit": "None"}, "limit"),
        ("TypeError", "object of type 'int' has no len()", {"step": "0"}, "step"),
        ("TypeError", "f() missing 1 required positional argument: 'b'", {"step": "0"}, ""),
        ("TypeError", "'int' object is not callable", {"step": "0"}, ""),
        ("NameError", "name 'x' is not defined", {"step": "0"}, ""),
    ],
)
def test_the_operand_that_an_operation_complains_about_is_the_culprit(
    exception: str, message: str, values: dict[str, str], culprit: str
) -> None:
    facts = CrashFacts(
        function="main",
        place="a.py:3",
        exception=exception,
        message=message,
        operands=tuple(values),
        values=values,
    )
    assert explain_crash(facts).culprit == culprit


def test_an_overflow_of_rust_names_the_numbers_and_follows_the_greatest() -> None:
    values = {"sum": "1950", "off": "3900", "lines": "size=3"}
    facts = CrashFacts(
        "invoice",
        message="attempt to subtract with overflow",
        is_panic=True,
        operands=("lines", "sum", "off"),
        values=values,
    )
    found = explain_crash(facts)
    text = "panic: attempt to subtract with overflow with off=3900 sum=1950"
    assert found.text == f"{text}, in invoice"
    assert found.culprit == "off"


@pytest.mark.parametrize(
    ("statement", "message", "text", "culprit", "value"),
    [
        (
            "self.log(self.total.borrow());", "RefCell already mutably borrowed",
            "panic: RefCell already mutably borrowed: self.total", "self.total.borrow", "",
        ),
        (
            "find(v).unwrap();", "called `Option::unwrap()` on a `None` value",
            "unwrap() of None, returned by find(v)", "find(v)", "None",
        ),
        (
            "find(v).unwrap();", "called `Result::unwrap()` on an `Err` value: Bad(3)",
            "unwrap() of Err: Bad(3), returned by find(v)", "find(v)", "Err(Bad(3))",
        ),
    ],
)  # fmt: skip
def test_a_panic_of_rust_names_the_cell_or_the_value_that_it_is_about(
    statement: str, message: str, text: str, culprit: str, value: str
) -> None:
    read = parse_reads(statement)
    facts = CrashFacts(
        "",
        exception="panic",
        message=message,
        accesses=read.accesses,
        called=read.called,
        nothing_call="find(v)" if "find" in statement else "",
        is_panic=True,
    )
    found = explain_crash(facts)
    assert (found.text, found.culprit, found.culprit_value) == (text, culprit, value)


def test_a_nil_map_inside_of_a_map_of_go_is_named() -> None:
    kind, text = cause_text(
        "c.rates[from][to] = r",
        exception="plainError",
        message="assignment to entry in nil map",
        values={"c": "{…}", "c.rates": 'map["eur": […]]', "from": '"chf"', "to": '"usd"'},
    )
    assert kind == "nil_map"
    assert text.startswith(
        "write to a nil map: c.rates[from][to] is set, c.rates[from] is nil with to="
    )


@pytest.mark.parametrize(
    ("value", "notes"),
    [
        (
            "error(*main.MyErr) nil",
            ["err is an interface that holds a nil *main.MyErr: err != nil"],
        ),
        ("error nil", []),
        ("*main.MyErr nil", []),
        ("error(*main.MyErr) *{code: 4}", []),
    ],
)
def test_an_interface_of_go_that_holds_a_nil_pointer_is_explained(
    value: str, notes: list[str]
) -> None:
    assert explain_typed_nil([VariableView("err", value)]) == notes


@pytest.mark.parametrize(
    ("statement", "message", "value", "length"),
    [
        ("return s / len(v)", "integer divide by zero", "len: 0, cap: 0, []", "len(v)"),
        ("return s / len(v)", "integer divide by zero", "[]int len: 0, cap: 0, nil", "len(v)"),
        ("s / v.len()", "attempt to divide by zero", "size=0", "v.len()"),
        ("s / count(v)", "Division by zero", "[]", "count(v)"),
    ],
)
def test_a_division_by_the_length_of_an_empty_container_names_it(
    statement: str, message: str, value: str, length: str
) -> None:
    read = parse_reads(statement)
    exception = "DivisionByZeroError" if "count" in statement else "panic"
    facts = CrashFacts(
        "mean",
        exception=exception,
        message=message,
        accesses=read.accesses,
        operands=read.operands,
        values={"v": value},
    )
    cause = explain_crash(facts)
    assert (cause.kind, cause.culprit) == ("division_by_zero", "v")
    assert f"division by zero: {length} is 0" in cause.text


def test_a_fault_of_arithmetic_at_an_empty_container_names_it() -> None:
    read = parse_reads("return s / (int)v.size();")
    for value, culprit in (("0x7ffe size=0", "v"), ("0x7ffe size=3 {1, 2, 3}", "")):
        facts = CrashFacts("mean", signal="SIGFPE", accesses=read.accesses, values={"v": value})
        assert explain_crash(facts).culprit == culprit
