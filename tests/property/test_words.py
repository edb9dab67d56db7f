"""Words of users, adapters and the configuration cause at worst an error."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from debugger import config
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap.dap_client import decode_body
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.debugger_words import uses_shell
from debugger.model.location import match_paths, near_names, parse_location, plain_function
from debugger.model.value_refs import ValueRefs
from debugger.symbols.program_file import inspect_program

# Letters of which names and places are made, and any others.
WORDS = st.one_of(
    st.text(st.sampled_from("ab:<>(){}*.0x9 \\/-=&~,"), max_size=40),
    st.text(max_size=40),
    st.lists(
        st.sampled_from(["operator", "<", ">", "(", ")", "::", "a", "(anonymous namespace)", " "])
    ).map("".join),
)


@given(WORDS)
def test_words_are_a_place_or_a_usage_error(words):
    try:
        place = parse_location(words)
    except DebuggerError as error:
        assert error.code is ErrorCode.USAGE
        assert error.hint
        return
    assert (place.line is None) or place.line >= 1
    kinds = [place.line is not None, place.function is not None, place.address is not None]
    assert kinds.count(True) == 1
    if place.file is not None:
        assert parse_location(f"{place.file}:{place.line}") == place


@given(WORDS)
def test_a_plain_name_begins_the_name_and_is_not_empty(name):
    plain = plain_function(name)
    assert plain.strip() in name
    assert bool(plain) == bool(name)
    assert len(plain) <= len(name)


@given(WORDS, st.lists(WORDS, max_size=8))
def test_names_and_paths_that_match_are_of_those_given(name, others):
    assert set(near_names(name, others)) <= set(others)
    assert set(match_paths(name, others)) <= set(others)


@given(WORDS)
def test_a_ref_is_known_stale_or_unknown(name):
    refs = ValueRefs()
    refs.assign_name(7)
    try:
        assert refs.find_handle(name) == 7
        assert name == "v1"
    except DebuggerError as error:
        assert error.code is ErrorCode.NOT_FOUND


RAW = st.sampled_from(["platform shell id", "script print(1)", "command source f", "!id"])


@given(WORDS)
def test_the_policy_judges_any_words(words):
    assert uses_shell(words) in {True, False}


@given(RAW, st.text(" \t`", max_size=5), st.sampled_from(["", "'", '"']), st.text(max_size=20))
def test_blanks_quotes_and_what_follows_hide_no_shell(raw, before, quote, after):
    first, _, rest = raw.partition(" ")
    blanks = " " * len(before)
    assert uses_shell(f"{blanks}{quote}{first}{quote} {blanks}{rest}{after}")


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=10,
)
BODIES = [
    dap.StackTraceBody,
    dap.VariablesBody,
    dap.BreakpointsBody,
    dap.StoppedBody,
    dap.OutputBody,
    dap.ExceptionInfoBody,
    dap.EvaluateBody,
]
KEYS = st.sampled_from(
    ["id", "name", "value", "stackFrames", "variables", "breakpoints", "threadId", "output", "line"]
)


@given(st.sampled_from(BODIES), st.one_of(JSON, st.dictionaries(KEYS, JSON)))
def test_a_body_is_read_or_a_protocol_error(kind, value):
    import json

    raw = msgspec.Raw(json.dumps(value).encode())
    try:
        body = decode_body(raw, kind)
    except DebuggerError as error:
        assert error.code is ErrorCode.PROTOCOL
        return
    if isinstance(body, dap.StackTraceBody):
        dap_convert.to_frames(body.stack_frames, 0)
    if isinstance(body, dap.VariablesBody):
        for one in body.variables:
            dap_convert.to_variable(one)
    if isinstance(body, dap.ExceptionInfoBody):
        dap_convert.to_exception(body)


@given(st.one_of(st.none(), st.text(max_size=30)))
def test_an_address_is_one_or_none(text):
    found = dap_convert.to_address(text)
    assert found is None or int(found, 16) >= 0


LINES = st.sampled_from(
    [
        "[timeouts]", "[adapters.x]", "[[output]]", "[security]", "dap_request_secs = 1",
        "dap_request_secs = -1", "path = 'x'", "args = ['a', 1]", "args = [[[[", "raw = 'deny'",
        "max_events = 1e400", "max_events = 10", "x.y.z = {a = 1}", "[a.b.c]", "'' = 1", '"',
        "a = nan", "defaults = []", "\x00", "= 1", "idle_timeout_minutes = 0x10",
    ]
)  # fmt: skip
FILES = st.one_of(st.binary(max_size=200), st.lists(LINES, max_size=6).map("\n".join))


@given(FILES)
def test_a_configuration_is_typed_values_or_a_usage_error(content):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "config.toml"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        try:
            found = config.load_config({"DEBUGGER_CONFIG": str(file)})
        except DebuggerError as error:
            assert error.code is ErrorCode.USAGE
            assert str(file) in error.message
            return
    assert found.timeouts.dap_request_secs > 0
    assert dict(config.flatten_config(found))


@given(st.binary(max_size=400), st.sampled_from([b"", b"\x7fELF", b"\x7fELF\x02\x01\x01", b"#!"]))
def test_any_file_is_looked_at(content, start):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program"
        file.write_bytes(start + content)
        found = inspect_program(str(file))
    assert found.is_native or not (start + content).startswith(b"\x7fELF")
