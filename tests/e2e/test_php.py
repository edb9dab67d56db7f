"""PHP programs: how they are started, and asked about, with Xdebug."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest

from cli_commands import answer_data, marked_location, print_value, start_program
from conftest import wait_until
from debuggees import find_marker, find_source
from refused_commands import check_refused

pytestmark = pytest.mark.adapter("xdebug")
CART = find_source("cart.php")


def test_a_program_stops_steps_shows_and_sets(cli):
    stop = start_program(cli, "cart.php", "--break", marked_location("cart.php", "sum"))
    assert (stop["reason"], stop["frame"]["function"]) == ("breakpoint", "Cart->total")
    told = {one["name"]: one["value"] for one in stop["locals"]}
    assert (told["$price"], told["$sum"], told["$name"]) == ("3", "0", "'apple'")
    assert told["$this"] == "Cart {lines: [['apple', 3, 2], ['pear', 5, 1]]}"
    assert print_value(cli, "$price * 2") == "6"
    assert "undefined variable $nosuch" in cli("print", "$nosuch", check=1).err
    assert "syntax error, unexpected" in cli("print", "1 +", check=1).err
    cli("set", "$sum", "100", check=0)
    stepped = answer_data(cli("--json", "next", check=0))
    # The next turn of the loop.
    assert (stepped["reason"], stepped["frame"]["line"]) == ("breakpoint", stop["frame"]["line"])
    assert print_value(cli, "$sum") == "103"
    cli("breakpoint", "remove", "--all", check=0)
    left = answer_data(cli("--json", "finish", check=0))
    assert left["frame"]["function"] == "{main}"
    assert answer_data(cli("--json", "continue", check=0))["exit_code"] == 3


def test_an_end_has_both_streams_and_the_status(cli):
    end = start_program(cli, "cart.php")
    assert (end["state"], end["exit_code"]) == ("terminated", 3)
    lines = [(one["stream"], one["text"]) for one in end["output"]]
    assert sorted(lines) == [("stderr", "total"), ("stdout", "8")]


def test_conditions_hit_counts_and_logs_choose_the_turns(cli):
    where = marked_location("cart.php", "sum")
    start_program(cli, "cart.php", "--stop-on-entry")
    cli("break", where, "--condition", "$price == 5", check=0)
    assert answer_data(cli("--json", "continue", check=0))["reason"] == "breakpoint"
    assert print_value(cli, "$name") == "'pear'"
    cli("breakpoint", "remove", "--all", check=0)
    cli("break", where, "--hit-count", "2", check=0)
    cli("break", marked_location("cart.php", "total"), "--log", "sum {$sum} of {$name}", check=0)
    assert answer_data(cli("--json", "continue", check=0))["reason"] == "breakpoint"
    assert print_value(cli, "$name") == "'pear'"
    assert "sum 8 of pear" in cli("output", "--all", check=0).out


def test_functions_and_lines_without_code_are_told(cli):
    stop = start_program(cli, "cart.php", "--break", "total")
    assert (stop["reason"], stop["frame"]["line"]) == (
        "function_breakpoint",
        find_marker("cart.php", "zero"),
    )
    for where, why in (("nosuch", "the function nosuch"), (f"{CART}:999", "cart.php:999")):
        told = answer_data(cli("--json", "break", where, check=0))
        assert not told["verified"]
        assert why in told["why_unbound"]


def test_a_program_that_does_not_parse_ends_with_phps_own_words(cli, tmp_path):
    (tmp_path / "broken.php").write_text("<?php\nfunction x( {\n")
    end = answer_data(cli("--json", "start", tmp_path / "broken.php", check=0))
    assert (end["state"], end["exit_code"]) == ("terminated", 255)
    assert any("syntax error" in one["text"] for one in end["output"])


def test_php_without_xdebug_is_an_error_with_the_remedy(cli, tmp_path, monkeypatch):
    (tmp_path / "php").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "php").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    missing = {"exit": 5, "code": "ADAPTER_NOT_FOUND", "hint": "pecl install xdebug"}
    check_refused(cli, "start", CART, **missing, says="xdebug is not installed")
    check_refused(cli, "crash", CART, **missing, says="xdebug is not installed")


def test_phps_settings_are_those_of_the_callers_environment(cli, tmp_path, monkeypatch):
    start_program(cli, "cart.php")  # with Xdebug: what is known of one PHP is not of another
    monkeypatch.setenv("PHP_INI_SCAN_DIR", str(tmp_path))
    missing = {"exit": 5, "code": "ADAPTER_NOT_FOUND", "hint": "pecl install xdebug"}
    check_refused(cli, "start", CART, **missing, says="xdebug is not installed")


@pytest.mark.parametrize("name", ["a b.php", "a#1%20?.php", "ü&=+.php"])
def test_a_files_name_may_have_any_letters_and_what_is_no_text_is_passed_over(cli, tmp_path, name):
    (tmp_path / name).write_text("<?php\nfunction go($n) {\n  echo $n;\n}\ngo(4);\n")
    (tmp_path / os.fsdecode(b"\xff.php")).write_text("<?php\n$n = 1;\n")
    answer = cli("who-wrote", "$n", "--at", f"{name}:3", "--", name, cwd=tmp_path, check=0)
    assert f"$n=4 was passed at {name}:5" in answer.out


def test_php_records_itself_without_xdebug(cli, tmp_path, monkeypatch):
    php = shutil.which("php")
    (tmp_path / "php").write_text(f'#!/bin/sh\nexec {php} -n -dextension=tokenizer "$@"\n')
    (tmp_path / "php").chmod(0o755)
    (tmp_path / "twice.php").write_text(
        "<?php\nfunction twice($n) {\n  return $n * 2;\n}\ntwice(4);\n"
    )
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    words = ("path", "--", "php", "twice.php")
    assert "twice($n=4) :2 → 8" in cli(*words, cwd=tmp_path, check=0).out


def test_what_xdebug_cannot_do_is_refused(cli):
    start_program(cli, "cart.php", "--break", "total")
    assert "xdebug cannot" in cli("watch", "$sum", check=1).err


def test_each_request_of_the_built_in_server_stops(cli, tmp_path):
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (tmp_path / "page.php").write_text('<?php\n$name = $_GET["name"];\necho "hello $name";\n')
    where = f"{tmp_path}/page.php:3"
    words = ("start", tmp_path / "page.php", "--break", where, "--no-wait")
    cli(*words, "--env", f"DEBUGGER_PHP_SERVER=127.0.0.1:{port}", check=0)
    wait_until(lambda: "Development Server" in cli("output", "--all", check=0).out)
    pages: list[str] = []

    def fetch(name: str) -> None:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/?name={name}", timeout=20) as page:
            pages.append(page.read().decode())

    for name in ("ada", "bob"):
        fetching = threading.Thread(target=fetch, args=(name,))
        fetching.start()
        stop = answer_data(cli("--json", "await", "--timeout", "20", check=0))
        assert {one["name"]: one["value"] for one in stop["locals"]}["$name"] == f"'{name}'"
        cli("continue", "--no-wait", check=0)
        fetching.join()
    assert pages == ["hello ada", "hello bob"]
    cli("stop", check=0)


def test_a_running_program_pauses_and_takes_breakpoints(cli):
    words = ("--json", "start", find_source("endless.php"), "--no-wait")
    cli(*words, check=0)
    wait_until(lambda: "counting" in cli("output", "--all", check=0).out)
    stop = answer_data(cli("--json", "pause", check=0))
    assert (stop["reason"], stop["frame"]["function"]) == ("pause", "count_turns")
    assert int(print_value(cli, "$counter + 0")) > 0  # in its own frame, not in our handler's
    cli("continue", "--no-wait", check=0)
    told = answer_data(cli("--json", "break", marked_location("endless.php", "count"), check=0))
    assert told["verified"]
    stop = answer_data(cli("--json", "await", "--timeout", "20", check=0))
    assert stop["reason"] == "breakpoint"
    cli("stop", check=0)


def test_what_waits_in_another_process_is_the_stop_after_the_end_of_the_stepped_one(cli, tmp_path):
    (tmp_path / "pair.php").write_text(
        "<?php\nfunction work($n) { $got = $n * 2; return $got; }\n$kids = [];\n"
        "foreach ([1, 2] as $n) {\n  $kid = pcntl_fork();\n"
        "  if ($kid === 0) {\n    exit(work($n));\n  }\n  $kids[] = $kid;\n}\n"
        "foreach ($kids as $kid) {\n  pcntl_waitpid($kid, $status);\n}\n"
    )
    words = ("--json", "start", "pair.php", "--break", "work")
    first = answer_data(cli(*words, cwd=tmp_path, check=0))["session"]

    def count_stopped():
        sessions = answer_data(cli("--json", "sessions", check=0))["sessions"]
        return sum(one["state"] == "stopped" for one in sessions)

    wait_until(lambda: count_stopped() == 2)
    cli("finish", check=0)
    stop = answer_data(cli("--json", "next", check=0))
    assert (stop["reason"], stop["frame"]["function"]) == ("function_breakpoint", "work")
    assert stop["session"] != first
    cli("stop", "--all", check=0)


def test_a_step_out_of_a_function_shows_what_it_returns(cli):
    start_program(cli, "cart.php", "--break", marked_location("cart.php", "total"))
    left = answer_data(cli("--json", "next", check=0))
    assert left["frame"]["function"] == "{main}"
    assert left["returned"]["value"] == "8"
    cli("stop", check=0)


def write_children(folder: Path, end: str = "exit(3);") -> None:
    """Write a program that forks one child, and starts another PHP."""
    (folder / "forks.php").write_text(
        "<?php\n$pid = pcntl_fork();\nif ($pid === 0) {\n  $got = 'child';\n  exit(5);\n}\n"
        "pcntl_waitpid($pid, $status);\npassthru('php kid.php', $code);\n"
        "echo pcntl_wexitstatus($status) + $code;\n"
    )
    (folder / "kid.php").write_text(f"<?php\n$n = 1;\n$m = $n + 1;\n{end}\n")


def test_a_forked_child_and_a_php_that_the_program_starts_have_sessions(cli, tmp_path):
    write_children(tmp_path)
    words = ("--json", "start", tmp_path / "forks.php", "--break", f"{tmp_path}/forks.php:5")
    stop = answer_data(cli(*words, "--break", "kid.php:3", cwd=tmp_path, check=0))
    assert (stop["session"], stop["frame"]["line"]) == ("forks.1", 5)
    assert print_value(cli, "$got") == "'child'"
    kid = answer_data(cli("--json", "continue", check=0))
    assert (kid["session"], Path(kid["frame"]["file"]).name) == ("forks.2", "kid.php")
    assert {one["name"]: one["value"] for one in kid["locals"]} == {"$n": "1"}
    end = answer_data(cli("--json", "continue", check=0))
    assert (end["session"], end["exit_code"]) == ("forks", 0)
    assert end["output"][-1]["text"] == "8"


def test_crash_names_what_nobody_caught_in_a_child_process(cli, tmp_path):
    write_children(tmp_path, "throw new Error('no');")
    crash = answer_data(cli("--json", "crash", "--", "php", "forks.php", cwd=tmp_path))
    assert Path(crash["frame"]["file"]).name == "kid.php"
    assert any("a process that the program started" in one for one in crash["notes"])


def test_a_stopped_child_process_is_ended(cli, tmp_path):
    write_children(tmp_path)
    words = ("--json", "start", tmp_path / "forks.php", "--break", f"{tmp_path}/forks.php:5")
    child = answer_data(cli(*words, cwd=tmp_path, check=0))
    cli("stop", "--kill", "--session", child["session"], check=0)
    end = answer_data(cli("--json", "wait", "--session", "forks", check=0))
    assert (end["state"], end["output"][-1]["text"]) == ("terminated", "3")


@pytest.fixture
def start_php() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start PHP programs, and end them."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(("php", *words), stdout=PIPE, stderr=STDOUT)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def find_free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for_server(port: int) -> None:
    def listens() -> bool:
        with closing(socket.socket()) as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_until(listens)


def test_a_running_server_is_attached_to_and_requests_with_the_trigger_stop(
    cli, tmp_path, start_php
):
    (tmp_path / "page.php").write_text('<?php\n$name = $_GET["name"];\necho "hello $name";\n')
    port, client_port = find_free_port(), find_free_port()
    settings = {"mode": "debug", "start_with_request": "trigger", "client_port": str(client_port)}
    options = [word for key, value in settings.items() for word in ("-d", f"xdebug.{key}={value}")]
    server = start_php(*options, "-S", f"127.0.0.1:{port}", str(tmp_path / "page.php"))
    wait_for_server(port)
    where = f"{tmp_path}/page.php:3"
    words = ("attach", str(server.pid), "--break", where, "--timeout", "0.1")
    assert "a request with XDEBUG_TRIGGER is debugged" in cli(*words, check=3).out
    busy = {"exit": 1, "code": "ADAPTER_FAILED", "hint": "debugger sessions"}
    taken = f"localhost:{client_port}"
    connect = ("attach", "--connect", taken, "--adapter", "xdebug")
    check_refused(cli, *connect, **busy, says=f"cannot listen at {taken}")
    pages: list[str] = []

    def fetch(query: str) -> None:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/?{query}", timeout=20) as page:
            pages.append(page.read().decode())

    fetch("name=free")
    fetching = threading.Thread(target=fetch, args=("name=ada&XDEBUG_TRIGGER=1",))
    fetching.start()
    stop = answer_data(cli("--json", "await", "--timeout", "20", check=0))
    assert {one["name"]: one["value"] for one in stop["locals"]}["$name"] == "'ada'"
    assert answer_data(cli("--json", "detach", check=0))["detached"]
    fetching.join()
    assert pages == ["hello free", "hello ada"]
    assert server.poll() is None


def test_a_script_that_runs_and_a_server_without_xdebugs_mode_are_refused(cli, tmp_path, start_php):
    script = start_php(str(find_source("endless.php")))
    assert script.stdout is not None
    assert b"counting" in script.stdout.readline()
    refused = {"exit": 1, "code": "NOT_SUPPORTED"}
    start = "debugger start SCRIPT.php"
    check_refused(cli, "attach", str(script.pid), **refused, hint=start, says="cannot enter")
    port = find_free_port()
    server = start_php("-d", "xdebug.mode=off", "-S", f"127.0.0.1:{port}", "-t", str(tmp_path))
    wait_for_server(port)
    mode = "xdebug.start_with_request=yes"
    check_refused(
        cli, "attach", str(server.pid), **refused, hint=mode, says="no Xdebug that debugs"
    )


# -- one question each finds a bug -----------------------------------------------------------------


def test_crash_tells_the_exception_and_its_frames(cli):
    crash = answer_data(cli("--json", "crash", "--", "php", CART, "crash"))
    assert crash["cause"].startswith("PriceError: no price in 2 lines")
    assert (crash["frame"]["function"], crash["frame"]["line"]) == (
        "Cart->check",
        find_marker("cart.php", "raise"),
    )
    assert {one["name"]: one["value"] for one in crash["locals"]}["$left"] == "2"
    raised = answer_data(cli("--json", "crash", "--raised", "--", CART, "crash"))
    assert raised["frame"]["line"] == find_marker("cart.php", "caught")


def test_probe_and_calls_show_values(cli):
    where = marked_location("cart.php", "sum")
    probed = answer_data(cli("--json", "probe", "--at", where, "$price, $sum", "--", CART, check=0))
    price, total = probed["places"][0]["columns"]
    assert (price["first"], price["last"], total["last"]) == ("3", "5", "3")
    called = cli("calls", "add", "--", CART, check=0).out
    assert "2 calls of Cart->add" in called or "2 calls of add" in called


@pytest.mark.adapter("phpunit")
def test_the_failing_test_of_phpunit_is_explained(cli, tmp_path):
    (tmp_path / "CartTest.php").write_text(
        "<?php\nclass CartTest extends PHPUnit\\Framework\\TestCase {\n"
        "  public function testCounts(): void {\n    $total = array_sum([3, 5]);\n"
        "    $this->assertSame(11, $total);\n  }\n"
        "  public function testFine(): void { $this->assertTrue(true); }\n"
        "  public function testWarns(): void { $none = []; $none['key']; }\n}\n"
    )
    words = ("--json", "test", "--", "phpunit", "--filter", "testCounts|testFine", "CartTest.php")
    told = answer_data(cli(*words, cwd=tmp_path))
    assert (told["outcome"], told["test"]) == ("failed", "CartTest::testCounts")
    assert "Failed asserting that 8 is identical to 11" in told["cause"]
    assert told["frame"]["line"] == 5
    assert {"$total": "8"}.items() <= {one["name"]: one["value"] for one in told["values"]}.items()
    words = ("--json", "test", "--", "phpunit", "--filter", "testWarns", "CartTest.php")
    told = answer_data(cli(*words, cwd=tmp_path))
    assert told["cause"].startswith(
        "key 'key' is not in $none (PHPUnit\\Framework\\Error\\Warning) with $none=[], in"
    )
    assert told["frame"]["line"] == 8


def test_who_wrote_finds_the_writes_of_a_property_in_another_class_also_in_a_child(cli, tmp_path):
    program = find_source("bank.php")
    where = marked_location("bank.php", "look")
    words = ("--json", "who-wrote", "$this->acc->balance", "--at", where, "--nth", "2")
    told = answer_data(cli(*words, "--", program, check=0))
    assert f"50 → 20, in Account->fee bank.php:{find_marker('bank.php', 'fee')}" in told["cause"]
    made = [(one["frame"]["function"], one["count"]) for one in told["writers"]]
    assert made[0] == ("Account->__construct", 1)
    assert ("Account->deposit", 2) in made
    parent = tmp_path / "parent.php"
    parent.write_text(f"<?php\npassthru(PHP_BINARY . ' {program}');\n")
    child = answer_data(cli(*words, "--", parent, cwd=Path(program).parent, check=0))
    assert child["cause"] == told["cause"]
    assert [(one["frame"]["function"], one["count"]) for one in child["writers"]] == made


def test_the_turns_of_a_generator_are_not_said_to_be_calls_of_several_functions(cli, tmp_path):
    (tmp_path / "turns.php").write_text(
        "<?php\nfunction turns() {\n    $n = 1;\n    yield $n;\n    yield $n + 1;\n}\n"
        "foreach (turns() as $one) { echo $one; }\n"
    )
    called = cli("calls", "turns", "--", "php", "turns.php", cwd=tmp_path, check=0).out
    assert "note: each time that the generator goes on is counted as a call" in called
    assert "several functions" not in called


def test_who_wrote_tells_locals_of_calls_globals_statics_elements_and_references_apart(cli):
    program = find_source("writes.php")
    for expression, where, text in (
        ("$r", "returns", "1 → 2, in fact {multiplies}"),
        ("$g['k']", "calls", "1 → 7, in change {changes}"),
        ("Box::$n", "calls", "1 → 2, in Box::up {counts}"),
        ("$found", "end", "null → 9, in {{main}} {sets}"),
        ("$n", "begins", "$n=3 was passed at {calls}"),
    ):
        names = ("multiplies", "changes", "counts", "sets", "calls")
        places = {one: f"writes.php:{find_marker('writes.php', one)}" for one in names}
        nth = ("--nth", "2") if expression == "$r" else ()
        words = ("--json", "who-wrote", expression, "--at", marked_location("writes.php", where))
        told = answer_data(cli(*words, *nth, "--", program, check=0))
        assert text.format(**places) in told["cause"]


def test_who_wrote_refuses_what_is_no_variable(cli):
    words = ("who-wrote", "1 + 2", "--at", marked_location("bank.php", "look"))
    check_refused(
        cli, *words, "--", find_source("bank.php"), exit=1, code="NOT_SUPPORTED",
        hint="debugger probe", says="is no variable",
    )  # fmt: skip


def test_holds_finds_the_statement_in_another_method(cli):
    words = ("--json", "holds", "$this->acc->balance >= 20", "--at")
    told = answer_data(
        cli(*words, marked_location("bank.php", "look"), "--", find_source("bank.php"))
    )
    (broken,) = told["invariants"]
    assert broken["made_false_by"]["frame"]["line"] == find_marker("bank.php", "fee")


def test_private_properties_and_enums_are_shown_as_php_writes_them(cli, tmp_path):
    (tmp_path / "e.php").write_text(
        "<?php\nenum Suit: string { case Hearts = 'H'; }\n"
        "class Card { public function __construct(private Suit $suit) {} }\n"
        '$card = new Card(Suit::Hearts); $any = new class { }; $keys = ["a\\0b" => 1];\necho 1;\n'
    )
    stop = answer_data(
        cli("--json", "start", tmp_path / "e.php", "--break", f"{tmp_path}/e.php:5", check=0)
    )
    assert {one["name"]: one["value"] for one in stop["locals"]} == {
        "$card": "Card {suit: Suit::Hearts}",
        "$any": "class@anonymous {}",
        "$keys": "['a␀b' => 1]",
    }
    assert print_value(cli, "$card->suit") == "Suit::Hearts"


def test_a_step_over_the_end_of_a_function_without_a_value_is_in_its_caller(cli):
    start_program(cli, "bank.php", "--break", marked_location("bank.php", "fee"))
    cli("breakpoint", "remove", "--all", check=0)
    cli("next", check=0)
    left = answer_data(cli("--json", "next", check=0))
    assert left["frame"]["function"] == "Bank->day"


def test_two_breakpoints_of_one_file_stay_apart_while_it_is_loaded(cli):
    first, second = (marked_location("bank.php", one) for one in ("deposit", "look"))
    start_program(cli, "bank.php", "--break", first, "--break", second)
    told = answer_data(cli("--json", "breakpoints", check=0))
    lines = [one["line"] for one in told["breakpoints"]]
    assert lines == [find_marker("bank.php", "deposit"), find_marker("bank.php", "look")]


def test_expressions_are_those_of_the_selected_frame(cli, tmp_path):
    (tmp_path / "frames.php").write_text(
        "<?php\nclass Shop {\n    private $name = 'ada';\n    function find($day) {\n"
        "        $tries = 2;\n        return new DateTime($day);\n    }\n}\n"
        "function outer($day) {\n    $tries = 7;\n"
        "    return array_map(fn ($one) => (new Shop)->find($one), [$day]);\n}\n"
        "outer('no day');\n"
    )
    crash = answer_data(cli("--json", "crash", "--", "php", "frames.php", cwd=tmp_path))
    assert (crash["frame"]["function"], crash["frame"]["line"]) == ("Shop->find", 6)
    values = {one["name"]: one["value"] for one in crash["locals"]}
    assert values == {"$day": "'no day'", "$tries": "2", "$this": "Shop {name: 'ada'}"}
    cli("start", "frames.php", "--break", "frames.php:6", cwd=tmp_path, check=0)
    cli("catch", "raised", check=0)
    cli("continue", check=0)  # PHP stands in DateTime's constructor
    assert print_value(cli, "$this->name . ($tries + 1)") == "'ada3'"
    stack = answer_data(cli("--json", "backtrace", check=0))["frames"]
    outer = next(one["index"] for one in stack if one["function"] == "outer")
    cli("frame", str(outer), check=0)
    assert print_value(cli, "$tries + 1") == "8"
    cli("set", "$tries", "40", check=0)
    assert print_value(cli, "$tries + 1") == "41"
    assert "undefined variable $one" in cli("print", "$one", check=1).err


def test_crash_tells_an_error_that_is_no_exception(cli, tmp_path):
    (tmp_path / "grow.php").write_text(
        "<?php\nini_set('memory_limit', '8M');\nfunction grow() {\n    $all = [];\n"
        "    while (true) {\n        $all[] = str_repeat('x', 1000);\n    }\n}\ngrow();\n"
    )
    crash = answer_data(cli("--json", "crash", "--", "php", "grow.php", cwd=tmp_path))
    assert "Allowed memory size of 8388608 bytes exhausted" in crash["cause"]
    assert (crash["frame"]["function"], crash["frame"]["line"]) == ("grow", 6)
    assert [one["name"] for one in crash["locals"]] == ["$all"]
