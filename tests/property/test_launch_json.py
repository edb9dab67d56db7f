"""Editors' settings: JSON between comments parses back, and no text is more than an error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.errors import DebuggerError
from debugger.targets.launch_json.configuration_variables import (
    VariableValues,
    find_variables,
    parse_env_file,
    placeholder_text,
    replace_variables,
)
from debugger.targets.launch_json.json_with_comments import (
    JsonSyntaxError,
    parse_json_with_comments,
)
from debugger.targets.launch_json.launch_configuration import read_attach, read_launch

TEXTS = st.one_of(
    st.text(max_size=20),
    st.text(st.sampled_from('/*",\\\n ]}[{:$a'), max_size=20),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
).filter(lambda one: "Infinity" not in json.dumps(one))
GAPS = st.lists(
    st.one_of(
        st.sampled_from([" ", "\n", "\t", "/**/", '// a, ] } "\n', '/* , ] } " // \n */']),
        st.text(st.characters(exclude_characters="*/\n\r"), max_size=8).map(
            lambda one: f"/*{one}*/"
        ),
    ),
    max_size=3,
).map("".join)


def printed(value: Any, draw: Any) -> str:
    """Print a value with gaps and trailing commas."""

    def gap() -> str:
        return str(draw(GAPS))

    if isinstance(value, list | dict):
        parts = [printed(one, draw) for one in value]
        if isinstance(value, dict):
            parts = [
                f"{json.dumps(name)}{gap()}:{printed(one, draw)}" for name, one in value.items()
            ]
        end = f",{gap()}" if parts and draw(st.booleans()) else ""
        inner = ",".join(f"{gap()}{one}{gap()}" for one in parts) + end
        brackets = "[]" if isinstance(value, list) else "{}"
        return f"{gap()}{brackets[0]}{gap()}{inner}{brackets[1]}{gap()}"
    return f"{gap()}{json.dumps(value, ensure_ascii=draw(st.booleans()))}{gap()}"


@given(VALUES, st.data())
def test_any_value_printed_with_comments_and_trailing_commas_parses_back(value, data):
    assert parse_json_with_comments(printed(value, data.draw)) == value


@given(VALUES)
def test_plain_json_parses_as_ever(value):
    assert parse_json_with_comments(json.dumps(value, indent=1)) == value


@given(st.one_of(TEXTS, st.text(st.sampled_from('{}[]",:/* \n1'), max_size=40)))
def test_any_text_is_a_value_or_a_syntax_error(text):
    try:
        value = parse_json_with_comments(text)
    except JsonSyntaxError as error:
        assert str(error)
        # Python's own parser takes Infinity and NaN, which are no JSON.
        with pytest.raises(ValueError):  # noqa: PT011 - of any kind
            json.loads(text, parse_constant=int)
        return
    json.dumps(value)


@given(VALUES)
def test_replaced_variables_leave_what_is_no_text_and_are_not_replaced_again(value):
    known = VariableValues(folder="/w", cwd="/w", env={"A": "${env:A}"}, file="/w/f.py")
    once = replace_variables(value, known)
    assert type(once) is type(value)
    if not any(find_variables(value)):
        assert once == value


@given(st.text(st.sampled_from("${}env:Aworkspcefldri/ "), max_size=30))
def test_a_placeholder_stands_for_each_variable(text):
    assert not list(find_variables(placeholder_text(text))) or "${" in text


@given(st.dictionaries(st.text(max_size=12), VALUES, max_size=4), st.data())
def test_any_configuration_is_read_or_an_error_with_a_hint(more, data):
    names = ("program", "args", "env", "cwd", "connect", "port", "processId", "stopOnEntry")
    names += ("python", "runtimeArgs", "console", "mode", "type", "envFile", "module")
    own = data.draw(st.dictionaries(st.sampled_from(names), VALUES, max_size=4))
    for read in (read_launch, read_attach):
        try:
            read({**more, **own})
        except DebuggerError as error:
            assert error.hint


NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)


@given(st.dictionaries(NAMES, st.text(st.characters(exclude_categories=["C", "Z"]), max_size=20)))
def test_an_env_file_of_quoted_values_parses_back(values):
    kept = {name: value.replace("'", "") for name, value in values.items()}
    text = "".join(f"# {name}\nexport {name} = '{value}' # x\n" for name, value in kept.items())
    assert parse_env_file(text, {}) == kept


@given(st.text(max_size=200))
def test_any_env_file_is_names_and_texts(text):
    for name, value in parse_env_file(text, {"A": "1"}).items():
        assert name
        assert isinstance(value, str)
