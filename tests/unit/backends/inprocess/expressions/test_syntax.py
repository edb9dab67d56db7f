"""Expressions are parsed as users mean them, or refused in words."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from debugger.backends.expressions import syntax_tree
from debugger.backends.expressions.expression_parser import (
    DEPTH_MAX,
    LENGTH_MAX,
    parse_expression,
)
from debugger.backends.inprocess.expressions import (
    c_writer,
    javascript_writer,
    log_text,
)
from debugger.backends.inprocess.expressions.log_pieces import parse_template
from debugger.backends.inprocess.expressions.node_evaluation import evaluate_node
from debugger.backends.inprocess.expressions.resolution import resolve_condition
from debugger.errors import DebuggerError, ErrorCode
from expression_cases import sample_memory


def shown(one: object) -> str:  # noqa: C901, PLR0911, PLR0912  one case for each kind of tree
    """Write a tree with all its brackets."""
    match one:
        case syntax_tree.NameTree(text=text):
            return text
        case syntax_tree.RegisterTree(name=name):
            return f"${name}"
        case (
            syntax_tree.IntegerTree(value=value)
            | syntax_tree.RealTree(value=value)
            | syntax_tree.TruthTree(value=value)
        ):
            return str(value)
        case syntax_tree.CharacterTree(value=value):
            return f"'{chr(value)}'"
        case syntax_tree.TextTree(value=value):
            return f'"{value}"'
        case syntax_tree.NullTree():
            return "null"
        case syntax_tree.MemberTree(of=of, name=name):
            return f"({shown(of)}.{name})"
        case syntax_tree.IndexTree(of=of, index=index):
            return f"({shown(of)}[{shown(index)}])"
        case syntax_tree.ArgumentTree(number=number):
            return f"args#{number}"
        case syntax_tree.UnaryTree(op=op, of=of):
            return f"({op}{shown(of)})"
        case syntax_tree.BinaryTree(op=op, left=left, right=right):
            return f"({shown(left)} {op} {shown(right)})"
        case syntax_tree.ConditionalTree(test=test, yes=yes, no=no):
            return f"({shown(test)} ? {shown(yes)} : {shown(no)})"
        case syntax_tree.CastTree(kind=kind, of=of):
            return f"({kind.name}{'*' * kind.pointers}){shown(of)}"
        case syntax_tree.SizeOfTree(of=syntax_tree.TypeName(name=name, pointers=pointers)):
            return f"sizeof({name}{'*' * pointers})"
        case syntax_tree.SizeOfTree(of=of):
            return f"sizeof {shown(of)}"
        case syntax_tree.LengthTree(what=what, of=of):
            return f"{what}({shown(of)})"
    raise AssertionError(one)


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("a + b * c", "(a + (b * c))"),
        ("a - b - c", "((a - b) - c)"),
        ("a << 1 + b", "(a << (1 + b))"),
        ("a | b ^ c & d", "(a | (b ^ (c & d)))"),
        ("a == 1 && b == 2 || c", "(((a == 1) && (b == 2)) || c)"),
        ("a and not b or c", "((a && (!b)) || c)"),
        ("not (a == b)", "(!(a == b))"),
        ("a === 1", "(a == 1)"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("-a.b", "(-(a.b))"),
        ("*p.x", "(*(p.x))"),
        ("p->x.y[3]->z", "((((p.x).y)[3]).z)"),
        ("a::b::c", "a::b::c"),
        ("::global", "::global"),
        ("$rax + 1", "($rax + 1)"),
        ("pair.0.1", "((pair.__0).__1)"),
        ("args[2] > 5", "(args#2 > 5)"),
        ("args[i]", "(args[i])"),
        ("len(s) > 3", "(len(s) > 3)"),
        ("s.len() + t.size()", "(len(s) + len(t))"),
        ("v.is_empty()", "empty(v)"),
        ("(int)x", "(int)x"),
        ("(unsigned long)-1", "(unsigned long)(-1)"),
        ("(struct node *)p", "(node*)p"),
        ("(const char *)p", "(char*)p"),
        ("(node *)p", "(node*)p"),
        ("(node) p", "(node)p"),
        ("(a) - 1", "(a - 1)"),
        ("(a) * b", "(a * b)"),
        ("(known) * b", "(known)(*b)"),
        ("(a or b)", "(a || b)"),
        ("x as u64 * 2", "((u64)x * 2)"),
        ("x as *const u8", "(u8*)x"),
        ("static_cast<unsigned long>(x) + 1", "((unsigned long)x + 1)"),
        ("(std::vector<int, a::b<char>> *)p", "(std::vector<int, a::b<char>>*)p"),
        ("sizeof(int) + sizeof x", "(sizeof(int) + sizeof x)"),
        ("0x1F + 0b11 + 0o17 + 1_000u64", "(((31 + 3) + 15) + 1000)"),
        ("1.5f + 2e3 + 1.", "((1.5 + 2000.0) + 1.0)"),
        (r"c == '\n'", "(c == '\n')"),
        (r'"a\"b\x41\u{e9}"', '"a"bAé"'),
        ("'several'", '"several"'),
        ("p == nullptr || p == None", "((p == null) || (p == null))"),
        ("True && false", "(True && False)"),
    ],
)
def test_an_expression_is_read(text: str, means: str) -> None:
    assert shown(parse_expression(text, lambda name: name == "known")) == means


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected an operand, column 1"),
        ("a +", "expected an operand, column 4 (at the end)"),
        ("a b", "expected an operator or the end, column 3 (before 'b')"),
        ("(a", "expected ')', column 3"),
        ("a[1", "expected ']'"),
        ("a ? b", "expected ':'"),
        ("a.", "expected a member's name"),
        ("a = 1", "'=' would change the program; compare with '=='"),
        ("a += 1", "'+=' would change the program"),
        ("a++", "'++' would change the program"),
        ("f(1", "expected ')'"),
        ("f(,", "expected an operand"),
        ("a < b < c", "write a < b && b < c"),
        ("a & 1 == 0", "C and Rust differ here, put brackets"),
        ("not a == b", "'not' before an operator: put brackets"),
        ("010", "octal in C and decimal in Rust: write 0o10 or 10"),
        ("0x1FFFFFFFFFFFFFFFF", "does not fit in 64 bits"),
        ("12ab", "'12ab' is no number"),
        ('"open', "a string that is not closed, column 1"),
        ("a @ b", "'@' has no meaning"),
        (r'"\ud800"', "is no character"),
        ("a\nb", "has no meaning"),
        ("(" * 200 + "a", f"nested more than {DEPTH_MAX} levels"),
        ("+".join("a" * 200), f"more than {DEPTH_MAX} operators deep"),
        ("a" * (LENGTH_MAX + 1), f"at most {LENGTH_MAX:,} are read"),
    ],
)
def test_what_is_no_expression_is_refused_in_words(text: str, says: str) -> None:
    with pytest.raises(DebuggerError, match=re.escape(says)) as caught:
        parse_expression(text)
    assert caught.value.code is ErrorCode.EVALUATION_FAILED
    assert caught.value.hint


_WORDS = st.sampled_from(
    [
        *"()[]{}.+-*/%&|^~!<>=?:,\\'\"é\0\U0001f600",
        *("a", "b::c", "1", "0x", "1.5", "'x'", '"s"', "->", "&&", "||", "<<", ">>", "==", "!="),
        *("args", "len", "sizeof", "as", "not", "and", "or", "int", "unsigned", "char", "const"),
        *("static_cast", "nullptr", "true", "$rax", ".0", "Option", "<int>"),
    ]
)


_SCOPE = sample_memory().scope()
_NAMES = st.sampled_from(
    [
        *_SCOPE.variables,
        *("p->in", "p->next", "p->high", "p->name", "v[1]", "Green", "(long)", "(Node *)", "* &"),
        *("+", "-", "*", "==", "<", "&&", "? i :", "[i]", ".x", "->y", ".len()", "(", ")", "!"),
    ]
)


def refused(act: Callable[[], object]) -> bool:
    """Return whether something is refused in words; anything else that is raised fails the test."""
    try:
        act()
    except DebuggerError as error:
        assert error.code in {ErrorCode.EVALUATION_FAILED, ErrorCode.NOT_SUPPORTED}
        assert error.hint
        return True
    return False


@settings(max_examples=600)
@given(
    st.one_of(
        st.text(max_size=60),
        st.lists(_WORDS, max_size=25).map(" ".join),
        st.lists(_NAMES | _WORDS, max_size=12).map(" ".join),
        st.lists(_NAMES, max_size=6).map(" ".join),
    )
)
def test_no_text_whatever_makes_it_fail(text: str) -> None:
    if not refused(lambda: parse_template(f"{{{text}}}", _SCOPE)):
        log_text.log_script(parse_template(f"{{{text}}}", _SCOPE))
    if refused(lambda: resolve_condition(text, _SCOPE)):
        return
    node = resolve_condition(text, _SCOPE)
    refused(lambda: evaluate_node(node, sample_memory().world()))
    refused(lambda: javascript_writer.condition_script(node))
    refused(lambda: c_writer.write_condition(node))


def test_the_deepest_expression_is_compiled() -> None:
    deep = "(" * 60 + "p" + "->next)" * 60 + "->value == 1"
    node = resolve_condition(deep, _SCOPE)
    assert "q_safe" in c_writer.write_condition(node)
    assert "readPointer" in javascript_writer.condition_script(node).value
    assert refused(lambda: evaluate_node(node, sample_memory().world()))
