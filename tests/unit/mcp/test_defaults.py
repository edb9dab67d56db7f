"""The defaults of a call: their order, and which exclude each other."""

from __future__ import annotations

import pytest

from debugger.mcp.tools import xcode_session

PAIRS = (xcode_session.SIMULATOR, xcode_session.TARGET)


def merged(explicit, *layers):
    return xcode_session.merge_defaults(explicit, layers, PAIRS)


def test_what_a_call_says_comes_before_session_configuration_and_environment():
    layers = [{"bundleId": "session"}, {"bundleId": "config"}, {"bundleId": "env"}]
    assert merged({"bundleId": "call"}, *layers) == {"bundleId": "call"}
    assert merged({}, *layers) == {"bundleId": "session"}
    assert merged({}, *layers[1:]) == {"bundleId": "config"}
    assert merged({}, *layers[2:]) == {"bundleId": "env"}


@pytest.mark.parametrize("nothing", ["", None])
def test_an_empty_string_and_null_count_as_not_given(nothing):
    assert merged({"bundleId": nothing}, {"bundleId": "a"}) == {"bundleId": "a"}
    assert merged({}, {"bundleId": nothing}, {"bundleId": "a"}) == {"bundleId": "a"}
    assert merged({"simulatorName": nothing}, {"simulatorId": "1"}) == {"simulatorId": "1"}
    assert (
        xcode_session.find_conflict({"simulatorId": "1", "simulatorName": nothing}, PAIRS) is None
    )


@pytest.mark.parametrize(
    ("explicit", "session"),
    [
        ({"simulatorName": "a"}, {"simulatorId": "1"}),
        ({"simulatorId": "1"}, {"simulatorName": "a"}),
        ({"pid": 5}, {"bundleId": "com.a"}),
    ],
)
def test_a_member_of_a_pair_that_is_said_drops_the_default_of_the_other(explicit, session):
    assert merged(explicit, session) == explicit
    assert merged({}, explicit, session) == explicit


def test_of_two_defaults_that_exclude_each_other_the_first_of_the_pair_is_kept():
    assert merged({}, {"simulatorName": "a", "simulatorId": "1"}) == {"simulatorId": "1"}
    assert merged({}, {}, {"simulatorName": "a", "simulatorId": "1"}) == {"simulatorId": "1"}


def test_a_stronger_layer_decides_which_of_a_pair_is_taken():
    assert merged({}, {"simulatorName": "a"}, {"simulatorId": "1"}) == {"simulatorName": "a"}


def test_defaults_fill_in_only_what_is_missing():
    assert merged({"pid": 5}, {"simulatorId": "1", "bundleId": "com.a"}) == {
        "pid": 5,
        "simulatorId": "1",
    }


def test_two_that_exclude_each_other_are_told_in_the_words_of_the_contract():
    both = {"bundleId": "com.a", "pid": 5}
    said = "bundleId and pid are mutually exclusive. Provide only one."
    assert xcode_session.find_conflict(both, PAIRS) == said


def test_a_new_default_clears_the_one_that_it_excludes_and_says_so():
    found, notices = xcode_session.change_defaults(
        {"simulatorId": "1", "bundleId": "b"}, {"simulatorName": "a", "simulatorId": None}, PAIRS
    )
    assert found == {"simulatorName": "a", "bundleId": "b"}
    assert notices == ["Cleared simulatorId because simulatorName was set."]


def test_a_default_that_is_set_again_clears_nothing():
    assert xcode_session.change_defaults({"simulatorId": "1"}, {"simulatorId": "2"}, PAIRS) == (
        {"simulatorId": "2"},
        [],
    )


def test_what_is_missing_is_told_with_what_sets_it():
    assert xcode_session.explain_missing({"simulatorId": ""}, xcode_session.SIMULATOR) == (
        "Provide simulatorId or simulatorName\n"
        'Set with: session_set_defaults { "simulatorId": "..." } '
        'OR session_set_defaults { "simulatorName": "..." }'
    )
    assert xcode_session.explain_missing({"simulatorName": "a"}, xcode_session.SIMULATOR) is None


def test_the_configuration_and_the_environment_are_read():
    settings = [
        {"name": "simulator.id", "value": None, "origin": "default"},
        {"name": "simulator.name", "value": "iPhone", "origin": "file"},
        {"name": "timeouts.dap_request_secs", "value": 30, "origin": "default"},
    ]
    assert xcode_session.of_settings(settings) == {"simulatorName": "iPhone"}
    assert xcode_session.of_environment(
        {"XCODEBUILDMCP_SIMULATOR_ID": "1", "XCODEBUILDMCP_BUNDLE_ID": "", "PATH": "/"}
    ) == {"simulatorId": "1"}
