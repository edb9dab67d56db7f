"""Node's report of an uncaught error is read: its class, fields, causes and place."""

from __future__ import annotations

from debugger.model.exception_cause import parse_traceback
from debugger.model.node_report import read_node_report

CAUSES = """/src/net.js:4
  throw new NetError('failed', { cause });
  ^

NetError: failed
    at load (/src/net.js:4:9)
    ... 7 lines matching cause stack trace ...
    at node:internal/main/run_main_module:28:49 {
  code: 'E_NET',
  request: { url: '/x', headers: { a: 1 } },
  [cause]: TypeError: wrong
      at mid (/src/net.js:3:9)
      at node:internal/main/run_main_module:28:49 {
    [cause]: RangeError: low
        at node:internal/fs:1:1
        at Object.<anonymous> (/src/low.js:2:1)
  }
}

Node.js v20.20.2
""".splitlines()
ERRORS = """/src/all.js:2
throw new AggregateError([one(), two], 'many')
^

AggregateError: many
    at Object.<anonymous> (/src/all.js:2:1) {
  [errors]: [
    Error: one
        at one (/src/all.js:1:9) {
      [cause]: Error: deep
          at one (/src/all.js:1:40)
    },
    TypeError: two
        at Object.<anonymous> (/src/all.js:2:1)
  ]
}

Node.js v20.20.2
""".splitlines()


def test_fields_and_nested_causes_are_read_with_their_places() -> None:
    report = read_node_report(["output", *CAUSES])
    assert report is not None
    assert (report.type, report.message) == ("NetError", "failed")
    assert report.fields == "{code: 'E_NET', request: { url: '/x', headers: { a: 1 } }}"
    assert report.causes == (
        "TypeError: wrong, in mid net.js:3",
        "RangeError: low, in <anonymous> low.js:2",
    )
    assert report.place == ("/src/net.js", 4)


def test_the_errors_of_an_aggregate_are_its_causes() -> None:
    report = read_node_report(ERRORS)
    assert report is not None
    assert report.causes == (
        "Error: one, in one all.js:1",
        "Error: deep, in one all.js:1",
        "TypeError: two, in <anonymous> all.js:2",
    )


def test_what_is_thrown_and_is_no_error_is_read_as_it_is_written() -> None:
    lines = ["Uncaught:", "/src/a b.js:1", "throw { code: 4 }", "^", "", "{ code: 4 }", ""]
    report = read_node_report([*lines, "Node.js v20.20.2"])
    assert report is not None
    assert (report.type, report.message) == ("", "{ code: 4 }")


def test_fields_that_the_message_says_already_are_left_out() -> None:
    lines = [
        "node:fs:1",
        "  ^",
        "Error: ENOENT: no such file or directory, open '/x'",
        "    at Object.openSync (node:fs:1:1) {",
        "  errno: -2,",
        "  code: 'ENOENT',",
        "  syscall: 'open',",
        "  path: '/x'",
        "}",
        "Node.js v20.20.2",
    ]
    report = read_node_report(lines)
    assert report is not None
    assert report.fields == ""


def test_an_output_without_the_end_of_a_report_has_none() -> None:
    assert read_node_report(CAUSES[:-1]) is None
    assert read_node_report(["Node.js v20 is needed"]) is None


def test_a_file_that_ends_too_early_has_its_place_without_marks() -> None:
    lines = [
        "/src/a.js:4",
        "",
        "",
        "",
        "SyntaxError: end",
        "    at w (node:internal/l:1:2)",
        "Node.js v20",
    ]
    report, trace = read_node_report(lines), parse_traceback(lines)
    assert report is not None
    assert trace is not None
    assert (report.type, report.place) == ("SyntaxError", ("/src/a.js", 4))
    assert (trace.type, trace.message) == ("SyntaxError", "end")
