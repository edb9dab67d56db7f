"""Records, texts and containers mean the same in Python, JavaScript and C."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from debugger.backends.inprocess.expressions import c_writer, javascript_writer, log_text
from debugger.backends.inprocess.expressions.expression_evaluation import (
    EvaluatedExpression,
    MemoryPlace,
    RegisterPlace,
    assignment_bytes,
    evaluate_expression,
)
from debugger.backends.inprocess.expressions.log_pieces import parse_template
from debugger.backends.inprocess.expressions.node_evaluation import evaluate_node
from debugger.backends.inprocess.expressions.operands import load_node
from debugger.backends.inprocess.expressions.resolution import (
    resolve_condition,
    resolve_expression,
)
from debugger.errors import DebuggerError, ErrorCode
from expression_cases import CASES, FAULTS, TEXTS
from expression_runner import START, ExpressionMemory, condition_for_value, pack_numbers


def test_an_expression_gives_the_same_three_times(
    expression_memory: ExpressionMemory, tmp_path: Path
) -> None:
    cases = CASES
    checked = [load_node(resolve_expression(text, expression_memory.scope())) for text, _ in cases]
    in_python = {
        text: evaluate_node(node, expression_memory.world())
        for (text, _), node in zip(cases, checked, strict=True)
    }
    assert in_python == dict(cases)
    conditions = [
        condition_for_value(node, value) for node, (_, value) in zip(checked, cases, strict=True)
    ]
    in_c = expression_memory.in_c(conditions, tmp_path)
    assert {text: ok for (text, _), ok in zip(cases, in_c, strict=True) if ok != 1} == {}


@pytest.mark.parametrize("way", ["numbers", "texts"])
def test_javascript_gives_the_same(expression_memory: ExpressionMemory, way: str) -> None:
    cases = [
        (text, value) for text, value in (CASES if way == "numbers" else TEXTS) if value is not None
    ]
    nodes = [load_node(resolve_expression(text, expression_memory.scope())) for text, _ in cases]
    assert {
        text: evaluate_node(node, expression_memory.world())
        for (text, _), node in zip(cases, nodes, strict=True)
    } == dict(cases)
    found = expression_memory.in_javascript(
        [javascript_writer.number_script(node).function_text for node in nodes]
    )
    for (text, value), answer in zip(cases, found, strict=True):
        assert float(answer.get("value", "nan")) == value, (text, answer)


def test_what_fails_in_a_run_fails_everywhere(
    expression_memory: ExpressionMemory, tmp_path: Path
) -> None:
    nodes = [resolve_condition(text, expression_memory.scope()) for text, _ in FAULTS]
    for (text, says), node in zip(FAULTS, nodes, strict=True):
        with pytest.raises(DebuggerError, match=says) as caught:
            evaluate_node(node, expression_memory.world())
        assert caught.value.code is ErrorCode.EVALUATION_FAILED, text
    for (text, says), answer in zip(
        FAULTS,
        expression_memory.in_javascript(
            [javascript_writer.condition_script(one).function_text for one in nodes]
        ),
        strict=True,
    ):
        assert says in answer["error"].replace("access violation", "cannot be read"), text
    assert all(one < 0 for one in expression_memory.in_c(nodes, tmp_path))


def test_a_short_circuit_reads_nothing_more(expression_memory: ExpressionMemory) -> None:
    texts = [
        "i == 3 && *bad == 1",
        "i == 2 || *bad == 1",
        "i == 2 ? 0 : *bad",
        "i == 3 && word == bad",
    ]
    nodes = [resolve_condition(text, expression_memory.scope()) for text in texts]
    found = expression_memory.in_javascript(
        [javascript_writer.condition_script(one).function_text for one in nodes]
    )
    assert [(one["value"], one["reads"]) for one in found] == [
        ("false", 1), ("true", 1), ("false", 1), ("false", 1)
    ]  # fmt: skip


def test_no_text_of_the_users_is_code(expression_memory: ExpressionMemory) -> None:
    hostile = r"\"); globalThis.hacked = 1; (\"\u{2028}`${1}`\\"
    node = resolve_condition(f'word != "{hostile}"', expression_memory.scope())
    source = javascript_writer.condition_script(node).function_text
    assert "hacked" not in source
    pieces = parse_template('"); hacked() + `${1}` {word}\\', expression_memory.scope())
    (answer,) = expression_memory.in_javascript([log_text.log_script(pieces).function_text])
    assert answer["value"] == '"); hacked() + `$1` "eve"\\'


@pytest.mark.parametrize(
    "text", ['word == "eve"', "len(word) > 2", "string == word", 'i == 1 || full == "eve"']
)
def test_c_says_what_it_cannot_do(expression_memory: ExpressionMemory, text: str) -> None:
    with pytest.raises(DebuggerError, match="a text cannot be compiled to C") as caught:
        c_writer.write_condition(resolve_condition(text, expression_memory.scope()))
    assert caught.value.code is ErrorCode.NOT_SUPPORTED


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("valu + 1", "no 'valu' in scope here"),
        ("wrd", "no 'wrd' in scope here; near: word"),
        ("1 + gone", "gone is optimized out here, column 3"),
        ("p->valeu", "Node has no member 'valeu'; it has value, column 2"),
        ("i.x", "int has no members"),
        ("*i", "int is no pointer"),
        ("i[0]", "int has no elements"),
        ("p[1.5]", "an index is a number, not double"),
        ("p + p", "Node * cannot stand beside '+' and Node *"),
        ("p * 2", "Node * cannot stand beside '*' and int"),
        ('i == "eve"', "int cannot be compared with a string"),
        ("string == 'a'", "std::string cannot be compared with char"),
        ('word < "a"', "texts are compared with == and !="),
        ("real % 2", "float cannot stand beside '%' and int"),
        ("~real", "'~' has no meaning for float"),
        ("node && 1", "a condition is a number or a pointer, not Node"),
        ("(Node)i", "int cannot be converted to Node"),
        ("(Nobody *)i", "no type 'Nobody' here, column 2"),
        ("i ? node : 1", "'? :' between Node and int"),
        ("&in_rax", "is in register rax, and has no address"),
        ("&p->low", "a bit field has no address"),
        ("&(i + 1)", "only what lies in memory has an address"),
        ("i.len()", "int has no length"),
        ("twice(1)", "functions are not called in expressions: see `debugger call`"),
        ("p->push(1)", "push() is not called; there are len()"),
        ("args[0]", "args[n] is not known here"),
        ("args + 1", "args[n] takes a number"),
        ("$nothing", "no register $nothing"),
        ("node + 1", "Node cannot stand beside '+' and int"),
        ("300u8", "300 does not fit in u8"),
    ],
)
def test_what_has_no_meaning_says_why(
    expression_memory: ExpressionMemory, text: str, says: str
) -> None:
    with pytest.raises(DebuggerError, match=re.escape(says)) as caught:
        resolve_condition(text, expression_memory.scope())
    assert caught.value.code is ErrorCode.EVALUATION_FAILED
    assert caught.value.hint


def test_arguments_count_from_zero_at_the_entry(expression_memory: ExpressionMemory) -> None:
    scope = expression_memory.scope(
        entry=[expression_memory.variables["i"], expression_memory.variables["in_rbx"]]
    )
    assert (
        evaluate_node(
            resolve_condition("args[0] == 2 && args[1] < 0", scope), expression_memory.world()
        )
        == 1
    )
    with pytest.raises(DebuggerError, match=r"no args\[2\]: the function has 2"):
        resolve_condition("args[2]", scope)


LOGGED = [
    ("i={i} at {p->in.x}", "i=2 at 3"),
    ("{word} {text} {string}", '"eve" "eve" "eve"'),
    ("{str} {owned}", '"grüße" "eve"'),
    ("{p->letter} {p->far} {p->colour} {real} {in_xmm}", "113 'q' true Green 0.1 2.5"),
    ("{nobody} {big} {j}", "0x0 9223372036854775809 -1"),
    ("{node.in}", "{x:3, y:-4}"),
    ("{grid}", "[[1, 2], [3, 4]]"),
    ("{v[i]} {v.size()} {i == 2}", "30 3 true"),
    ("{1.0} {0.5} {1e21} {1e-7} {123456789.125} {1e300 * 1e10} {-1e-5}",
     "1 0.5 1e+21 1e-7 123456789.125 Infinity -0.00001"),
    ("no {} brackets {", "no {} brackets {"),
    ("", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "says"), LOGGED)
def test_a_template_is_written_the_same_twice(
    expression_memory: ExpressionMemory, text: str, says: str
) -> None:
    pieces = parse_template(text, expression_memory.scope())
    assert log_text.format_log(pieces, expression_memory.world()) == says
    (answer,) = expression_memory.in_javascript([log_text.log_script(pieces).function_text])
    assert answer["value"] == says


def test_a_part_that_cannot_be_read_leaves_the_others(expression_memory: ExpressionMemory) -> None:
    pieces = parse_template("a={i} b={*bad} c={v[9]} d={long_word}", expression_memory.scope())
    written = log_text.format_log(pieces, expression_memory.world())
    (answer,) = expression_memory.in_javascript([log_text.log_script(pieces).function_text])
    for text in (written, answer["value"]):
        assert re.fullmatch(
            r'a=2 b=<error: .*0x1000> c=<error: an index outside.*> d="x{200}"…', text
        ), text


def test_a_value_has_its_place(expression_memory: ExpressionMemory) -> None:
    def at(text: str) -> EvaluatedExpression:
        return evaluate_expression(text, expression_memory.scope(), expression_memory.world())

    node = at("p").value
    assert at("p->in.y").place == MemoryPlace(int(node or 0) + 20)
    assert at("in_rax").place == RegisterPlace("rax")
    assert at("p->high").place == MemoryPlace(int(node or 0) + 32, (3, 9))
    assert at("i + 1").place is None
    assert at("&i").value == at("i").place.address
    assert (at("node").value, at("node").place) == (None, MemoryPlace(int(node or 0)))
    assert at('"eve"').value == "eve"
    assert START <= int(node or 0) < START + len(expression_memory.held)


@pytest.mark.parametrize(
    ("target", "value", "content"),
    [
        ("i", "-2", pack_numbers("i", -2)),
        ("j", "i", pack_numbers("q", 2)),
        ("real", "1", pack_numbers("f", 1.0)),
        ("i", "2.9", pack_numbers("i", 2)),
        ("p->far", "77", b"\1"),
        ("word", "0", pack_numbers("Q", 0)),
        ("in_rax", "5", pack_numbers("i", 5)),
        ("p->colour", "Green", pack_numbers("i", 5)),
        ("p->high", "-1", (5 | 0x1FF << 3).to_bytes(2, "little")),
        ("p->low", "2", (2 | (-100 & 0x1FF) << 3).to_bytes(4, "little")[:1]),
    ],
)
def test_a_value_is_set_as_its_bytes(
    expression_memory: ExpressionMemory, target: str, value: str, content: bytes
) -> None:
    scope, world = expression_memory.scope(), expression_memory.world()
    place, found = assignment_bytes(
        evaluate_expression(target, scope, world), evaluate_expression(value, scope, world), world
    )
    assert found == content
    assert isinstance(place, MemoryPlace | RegisterPlace)


@pytest.mark.parametrize(
    ("target", "value", "says"),
    [
        ("i + 1", "2", "only a variable can be set"),
        ("i", '"eve"', "int cannot be set to a string"),
        ("node", "1", "Node cannot be set to int"),
        ("p", "1.5", "Node * cannot be set to double"),
        ("i", "1e10", "does not fit"),
    ],
)
def test_what_cannot_be_set_says_why(
    expression_memory: ExpressionMemory, target: str, value: str, says: str
) -> None:
    scope, world = expression_memory.scope(), expression_memory.world()
    with pytest.raises(DebuggerError, match=re.escape(says)):
        assignment_bytes(
            evaluate_expression(target, scope, world),
            evaluate_expression(value, scope, world),
            world,
        )
