"""Each cell of the table of links in docs/questions.md is shown by a test with a small program."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_LANGUAGES = ("C", "C++", "Rust", "Go", "JavaScript", "Python")
_C_CHAIN = "a_value_is_followed_through_parameters_locals_and_returns"
_CPP = "a_value_of_cpp_is_followed_through_containers_references_and_lambdas"
_RUST = "a_value_of_rust_is_followed_through_returns"
_RUST_FIELD = "a_field_of_a_returned_struct_is_followed_to_the_sum_and_the_lines_that_made_it"
_GO_FIELD = "a_field_is_followed_to_the_argument_that_its_constructor_got"
_GO_ELEMENT = "an_element_is_followed_to_the_line_that_wrote_it"
_GO_CHANNEL = "a_value_is_followed_through_a_closure_and_channels"
_GO_PANIC = "a_panic_is_a_location_and_a_zero_value_is_told_with_its_literal"
_NODE_ASYNC = "a_field_that_was_changed_in_an_async_function"
_NODE_PARAMETER = "a_parameter_is_followed_to_the_callers_and_their_variables"
_NODE_FAIL = "a_failed_assertion_is_a_location_and_a_returned_value_is_followed_into_the_callee"
_ITEM = "an_item_that_was_taken_out_is_followed_to_the_line_that_put_it_in"
_NODE_TAKEN = "a_popped_value_and_an_input_of_javascript_are_followed"
_PY_TAKEN = "a_popped_value_of_python_is_followed_into_the_closure"
_PY_COPIED = "a_value_that_was_copied_through_containers_and_calls"
_RUST_CLOSURE = "a_value_of_rust_is_followed_into_closures_and_functions_on_one_line"
_GO_VALUES = "a_value_of_go_is_followed_through_function_values_and_sends_on_one_line"
_RUST_BLOCK = "a_pointer_into_a_moved_vector_of_rust_leads_to_the_block_and_the_files_byte"
# By the link, then the language: the test that shows the cell.
_SHOWN: Mapping[str, Mapping[str, str]] = {
    "written, copied": {
        "C": _C_CHAIN, "C++": _CPP, "Rust": _RUST_FIELD, "Go": _GO_FIELD,
        "JavaScript": _NODE_ASYNC,
        "Python": "a_field_that_was_changed_through_an_alias",
    },
    "computed": {
        "C": "a_counter_is_one_link_and_its_first_value_is_found", "C++": _CPP,
        "Rust": _RUST_FIELD,
        "Go": "a_sum_names_its_operands_and_the_next_command", "JavaScript": _NODE_ASYNC,
        "Python": "of_a_functions_several_operands_the_one_with_the_data_is_followed",
    },
    "argument of a call": {
        "C": _C_CHAIN, "C++": _CPP, "Rust": _RUST, "Go": _GO_FIELD,
        "JavaScript": _NODE_PARAMETER, "Python": _PY_COPIED,
    },
    "returned": {
        "C": _C_CHAIN, "C++": _CPP, "Rust": _RUST, "Go": _GO_FIELD, "JavaScript": _NODE_FAIL,
        "Python": "a_cache_that_returns_what_another_call_stored",
    },
    "element of a container": {
        "C": "a_value_is_followed_through_structs_that_are_copied_to_a_literal", "C++": _CPP,
        "Rust": "an_element_of_rust_is_followed_to_the_function_that_wrote_it",
        "Go": _GO_ELEMENT, "JavaScript": "an_element_that_another_function_changed",
        "Python": "an_item_of_a_list_that_belongs_to_the_class",
    },
    "item taken out of a container": {
        "C": "a_value_that_was_popped_is_followed_to_the_call_that_pushed_it",
        "C++": _ITEM, "Rust": _ITEM, "JavaScript": _NODE_TAKEN, "Python": _PY_TAKEN,
        "Go": "the_top_of_a_stack_is_followed_to_what_was_appended",
    },
    "key that was removed, container that was emptied": {
        "Python": "of_what_was_taken_out_of_a_container",
        "JavaScript": "the_cause_is_in_the_first_answer",
    },
    "closure, lambda": {
        "C++": _CPP, "Go": _GO_CHANNEL, "Rust": _RUST_CLOSURE,
        "JavaScript": "a_sum_that_is_no_number_is_followed_to_the_element_that_spoilt_it",
        "Python": _PY_TAKEN,
    },
    "call by a pointer or a variable": {
        "C": "a_value_that_a_function_pointer_returned_is_followed_into_the_function",
        "C++": "a_value_of_cpp_is_followed_through_a_function_object_and_a_product",
        "Rust": _RUST_CLOSURE, "Go": _GO_VALUES,
    },
    "atomic variable": {"Go": _GO_VALUES},
    "part of a copied value": {
        "C": "a_value_is_followed_through_structs_that_are_copied_to_a_literal",
        "Rust": _RUST_FIELD, "Go": _GO_VALUES,
    },
    "bit-field": {"C": "a_bit_field_was_not_written_by_what_wrote_its_neighbours"},
    "text that grew": {"C++": "the_origin_of_a_text_is_what_wrote_its_end"},
    "slices of one array": {
        "Go": "an_element_that_was_written_through_another_slice_is_watched"
    },
    "result of a deferred function": {"Go": _GO_VALUES},
    "generator, iterator": {
        "Python": "a_value_of_python_is_followed_out_of_generators_and_loops"
    },
    "another thread or task": {
        "C": "the_thread_that_changed_a_global_is_named", "Go": _GO_CHANNEL,
        "C++": "a_value_of_cpp_that_another_thread_wrote_is_followed_into_it",
        "JavaScript": _NODE_ASYNC, "Python": "a_global_that_another_thread_changed",
    },
    "channel": {"Go": _GO_CHANNEL},
    "allocated, freed, neighbour": {
        "C": "the_owner_of_a_block_that_overflows_is_named_at_a_crash",
        "C++": "a_block_that_was_freed_since_its_value_was_written_is_said_to_be",
        "Rust": _RUST_BLOCK,
    },
    "never written, zero value": {
        "C": "a_local_that_was_never_written_is_told_with_the_former_writer_of_its_memory",
        "Go": _GO_PANIC,
        "JavaScript": "a_property_that_is_written_later_names_the_promise_that_nobody_awaited",
    },
    "input": {
        "C": "the_byte_of_a_file_that_a_value_was_read_from_is_named",
        "C++": "a_number_that_a_stream_read_is_an_input", "Rust": _RUST_BLOCK,
        "Go": "a_text_of_go_is_followed_to_the_file_that_it_was_read_from",
        "JavaScript": _NODE_TAKEN,
        "Python": "a_byte_of_a_file",
    },
    "call that led to a returned literal": {
        "C": "a_returned_null_is_followed_to_the_call_that_failed_and_the_jump",
    },
    "`--at crash`": {
        "C": "the_owner_of_a_block_that_overflows_is_named_at_a_crash",
        "C++": _ITEM, "Rust": _ITEM, "Go": _GO_PANIC,
        "JavaScript": "an_exception_that_nobody_catches_is_a_location",
        "Python": "an_exception_that_ends_the_program_is_a_location",
    },
    "`--at fail`": {
        "Go": "a_value_of_a_test_is_followed_into_the_package", "JavaScript": _NODE_FAIL,
        "Python": "a_failing_test_is_a_location",
    },
    "part of a failed check": {
        "C++": "the_part_of_a_value_of_cpp_that_departs_is_followed",
        "Rust": "a_crash_of_rust_follows_what_was_compared_and_no_condition_around_it",
        "Go": "a_part_of_a_value_of_go_is_followed_into_the_package",
        "JavaScript": "the_first_part_that_departs_is_followed",
        "Python": "the_first_part_that_departs_is_followed",
    },
}  # fmt: skip


def _table() -> dict[str, dict[str, str]]:
    text = (_ROOT / "docs" / "questions.md").read_text("utf-8")
    part = text[text.index("| link | C | C++ |") :].split("\n\n", 1)[0]
    rows = [[cell.strip() for cell in one.strip("|").split("|")] for one in part.splitlines()]
    assert tuple(rows[0][1:]) == _LANGUAGES
    return {one[0]: dict(zip(_LANGUAGES, one[1:], strict=True)) for one in rows[2:]}


def test_each_cell_of_the_table_is_shown_by_a_test_and_the_others_say_so() -> None:
    tests = "".join(one.read_text("utf-8") for one in Path(__file__).parent.glob("test_why*.py"))
    known = set(re.findall(r"^def test_(\w+)\(", tests, re.MULTILINE))
    table = _table()
    assert table.keys() == _SHOWN.keys()
    for link, cells in table.items():
        shown = {language for language, cell in cells.items() if cell != "-"}
        assert shown == _SHOWN[link].keys(), link
        assert set(cells.values()) <= {"yes", "no", "inferred", "-"}
        assert set(_SHOWN[link].values()) <= known, link
