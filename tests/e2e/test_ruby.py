"""Ruby programs: how they are found, started, attached to and asked about."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cli_commands import answer_data, marked_location, print_value, start_program
from conftest import wait_until
from debuggees import find_marker, find_source
from refused_commands import check_refused

pytestmark = pytest.mark.adapter("rdbg")
CART = find_source("cart.rb")


@pytest.fixture
def running_ruby() -> Iterator[Any]:
    """Start Ruby programs, and end them."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str, until: bytes = b"", **more: Any) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more
        )  # fmt: skip
        started.append(process)
        assert process.stdout is not None
        while until and until not in process.stdout.readline():
            assert process.poll() is None
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_the_last_breakpoint_of_a_method_may_be_removed_after_a_step(cli, tmp_path):
    (tmp_path / "work.rb").write_text(
        "def work(n)\n  a = n\n  b = a\n  b\nend\n3.times { work(_1) }\n"
    )
    # What is freed is overwritten: who reads it later crashes.
    words = ("work.rb", "--env", "MALLOC_PERTURB_=165", "--break", "work.rb:2")
    cli("start", *words, check=0, cwd=tmp_path)
    cli("next", check=0)
    cli("breakpoint", "remove", "--all", check=0)
    stepped = answer_data(cli("--json", "next", check=0))
    assert (stepped["reason"], stepped["frame"]["line"]) == ("step", 4)
    assert answer_data(cli("--json", "continue", check=0))["exit_code"] == 0


def test_a_program_stops_steps_shows_and_sets(cli):
    stop = start_program(cli, "cart.rb", "--break", marked_location("cart.rb", "sum"))
    assert (stop["reason"], stop["frame"]["function"]) == ("breakpoint", "block in Cart#total")
    told = {one["name"]: one["value"] for one in stop["locals"]}
    assert (told["price"], told["sum"]) == ("3", "0")
    assert told["self"] == '#<Cart @lines=[["apple", 3, 2], ["pear", 5, 1]]>'
    assert print_value(cli, "price * 2") == "6"
    cli("set", "sum", "100", check=0)
    stepped = answer_data(cli("--json", "next", check=0))
    # The next turn of the block, not the end of the loop.
    assert (stepped["reason"], stepped["frame"]["line"]) == ("breakpoint", stop["frame"]["line"])
    assert print_value(cli, "sum") == "103"
    cli("breakpoint", "remove", "--all", check=0)
    left = answer_data(cli("--json", "finish", check=0))
    assert left["frame"]["function"] == "Cart#total"
    end = answer_data(cli("--json", "continue", check=0))
    assert end["exit_code"] == 3


def test_an_end_has_both_streams_and_the_status_and_nothing_of_the_debugger(cli):
    end = start_program(cli, "cart.rb")
    assert (end["state"], end["exit_code"]) == ("terminated", 3)
    lines = [(one["stream"], one["text"]) for one in end["output"]]
    assert sorted(lines) == [("stderr", "total"), ("stdout", "8")]


def test_a_script_without_an_ending_and_one_with_an_empty_file_are_started(cli, tmp_path):
    script = tmp_path / "tool"
    script.write_text("#!/usr/bin/env ruby\nx = 41\nputs x + 1\n")
    script.chmod(0o755)
    stop = answer_data(cli("--json", "start", script, "--break", f"{script}:3", check=0))
    assert stop["locals"] == [{**stop["locals"][0], "name": "x", "value": "41"}]
    (tmp_path / "empty.rb").touch()
    assert answer_data(cli("--json", "start", tmp_path / "empty.rb", check=0))["exit_code"] == 0


def test_a_program_stops_at_its_entry_and_reads_typed_input(cli, tmp_path):
    (tmp_path / "ask.rb").write_text('name = gets.chomp\nputs "hello #{name}"\n')
    stop = answer_data(cli("--json", "start", tmp_path / "ask.rb", "--stop-on-entry", check=0))
    assert (stop["reason"], stop["frame"]["line"]) == ("entry", 1)
    cli("input", "ada\n", check=0)
    end = answer_data(cli("--json", "continue", check=0))
    assert [one["text"] for one in end["output"]] == ["hello ada"]


def test_a_program_that_does_not_parse_ends_with_rubys_own_words(cli, tmp_path):
    (tmp_path / "broken.rb").write_text("def (\n")
    end = answer_data(cli("--json", "start", tmp_path / "broken.rb", check=0))
    assert (end["state"], end["exit_code"]) == ("terminated", 1)
    assert any("syntax error" in one["text"] for one in end["output"])


def test_a_breakpoint_in_a_file_that_does_not_parse_or_has_no_code_says_why(cli, tmp_path):
    (tmp_path / "broken.rb").write_text("def (\n")
    start_program(cli, "cart.rb", "--stop-on-entry")
    for where, why in ((f"{tmp_path}/broken.rb:1", "does not parse"), (f"{CART}:999", "no code")):
        told = answer_data(cli("--json", "break", where, check=0))
        assert not told["verified"]
        assert why in told["why_unbound"]
    told = answer_data(cli("--json", "break", "Cart#total", check=0))
    assert (told["verified"], told["line"]) == (True, find_marker("cart.rb", "zero"))


def test_ruby_without_the_gem_is_an_error_with_the_remedy(cli, tmp_path, monkeypatch):
    (tmp_path / "ruby").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "ruby").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    missing = {"exit": 5, "code": "ADAPTER_NOT_FOUND", "hint": "gem install debug"}
    check_refused(cli, "start", CART, **missing, says="rdbg is not installed")


def test_a_ruby_whose_gems_are_moved_or_left_out_is_an_error_that_says_so(
    cli, tmp_path, monkeypatch
):
    (tmp_path / "once.rb").write_text("x = 1\nputs x\n")
    words = ("--", "ruby", "--disable-gems", "once.rb")
    refused = cli("crash", *words, cwd=tmp_path, check=1)
    assert "Ruby runs without its gems" in refused.err
    assert "leave --disable-gems out" in refused.err
    assert "x = 1" in cli("why", "x", "--at", "once.rb:2", *words, cwd=tmp_path, check=0).out
    monkeypatch.setenv("GEM_PATH", str(tmp_path))
    monkeypatch.setenv("GEM_HOME", str(tmp_path))
    missing = {"exit": 5, "code": "ADAPTER_NOT_FOUND", "hint": "gem install debug"}
    check_refused(cli, "start", CART, **missing, says="rdbg is not installed")


def test_commands_of_rubys_are_understood(cli, tmp_path):
    library = tmp_path / "lib"
    library.mkdir()
    (library / "price.rb").write_text("PRICE = nil\n")
    (tmp_path / "app.rb").write_text('require "price"\nputs PRICE + 1\n')
    crash = answer_data(cli("--json", "crash", "--", "ruby", "-w", "-Ilib", "app.rb", cwd=tmp_path))
    assert "is nil, + of it is called (NoMethodError)" in crash["cause"]
    assert crash["frame"]["line"] == 2
    told = cli("start", "ruby", "app.rb", cwd=tmp_path, check=2)
    assert "debugger start app.rb" in told.err


def write_children(folder: Path, last: str = "exit 3") -> None:
    """Write a program that forks one child, and starts another Ruby."""
    (folder / "forks.rb").write_text(
        "pid = fork do\n  got = 'child'\n  exit 5\nend\nProcess.wait(pid)\n"
        "status = $?.exitstatus\nsystem('ruby', 'kid.rb')\nputs status + $?.exitstatus\n"
    )
    (folder / "kid.rb").write_text(f"n = [1, nil]\n{last}\n")


def test_a_forked_child_and_a_ruby_that_the_program_starts_have_sessions(cli, tmp_path):
    write_children(tmp_path)
    words = ("--json", "start", tmp_path / "forks.rb", "--break", f"{tmp_path}/forks.rb:3")
    stop = answer_data(cli(*words, "--break", f"{tmp_path}/kid.rb:2", cwd=tmp_path, check=0))
    assert (stop["session"], stop["frame"]["line"]) == ("forks.1", 3)
    assert print_value(cli, "got") == '"child"'
    kid = answer_data(cli("--json", "continue", check=0))
    assert (kid["session"], Path(kid["frame"]["file"]).name) == ("forks.2", "kid.rb")
    assert kid["locals"][0]["value"] == "[1, nil]"
    end = answer_data(cli("--json", "continue", check=0))
    assert (end["session"], end["exit_code"]) == ("forks", 0)
    assert end["output"][-1]["text"] == "8"
    listed = answer_data(cli("--json", "sessions", check=0))["sessions"]
    assert sorted(one["exit_code"] for one in listed) == [0, 3, 5]


def test_crash_names_what_nobody_rescued_in_a_child_process(cli, tmp_path):
    write_children(tmp_path, "n.sum")
    crash = answer_data(cli("--json", "crash", "--", "ruby", "forks.rb", cwd=tmp_path))
    assert (Path(crash["frame"]["file"]).name, crash["frame"]["line"]) == ("kid.rb", 2)
    assert any("a process that the program started" in one for one in crash["notes"])


def test_a_program_that_is_let_go_leaves_its_children_alone(cli, tmp_path):
    (tmp_path / "free.rb").write_text("x = 1\nFile.write('told', `ruby -e 'print ENV.to_h'`)\n")
    cli("start", tmp_path / "free.rb", "--stop-on-entry", cwd=tmp_path, check=0)
    cli("detach", check=0)
    told = tmp_path / "told"
    wait_until(lambda: told.exists() and told.read_text().endswith("}"))
    assert "DEBUGGER_RUBY" not in told.read_text()


def test_what_a_program_evaluates_with_a_files_name_stops(cli, tmp_path):
    """As the files `config.ru` and `Gemfile`, and templates."""
    (tmp_path / "page.erb").write_text("<% items.each do |one| %>\n<%= one.upcase %>\n<% end %>\n")
    (tmp_path / "setup.ru").write_text("def half(n)\n  n / 2\nend\nruns = half(8)\n")
    (tmp_path / "app.rb").write_text(
        'require "erb"\neval("Object.new.instance_eval {( " + File.read("setup.ru") + "\n)}", '
        'nil, "setup.ru")\nitems = %w[a b]\npage = ERB.new(File.read("page.erb"))\n'
        'page.filename = "page.erb"\nputs page.result(binding)\n'
    )
    places = [f"{tmp_path}/{one}" for one in ("setup.ru:2", "setup.ru:4", "page.erb:2")]
    breaks = [word for one in places for word in ("--break", one)]
    stop = answer_data(cli("--json", "start", tmp_path / "app.rb", *breaks, cwd=tmp_path, check=0))
    stops = [stop]
    while stops[-1]["state"] == "stopped":
        stops.append(answer_data(cli("--json", "continue", check=0)))
    where = [(Path(one["frame"]["file"]).name, one["frame"]["line"]) for one in stops[:-1]]
    # A line of a template has several statements, each of which stops.
    assert [*dict.fromkeys(where)] == [("setup.ru", 4), ("setup.ru", 2), ("page.erb", 2)]


def test_a_program_that_stops_itself_is_stopped(cli, tmp_path):
    (tmp_path / "own.rb").write_text("x = 1\nbinding.break\ndebugger\nputs x\n")
    stop = answer_data(cli("--json", "start", tmp_path / "own.rb", check=0))
    assert (stop["reason"], stop["frame"]["line"]) == ("breakpoint", 2)
    assert answer_data(cli("--json", "continue", check=0))["frame"]["line"] == 3


@pytest.mark.adapter("gdb")
def test_a_running_program_is_entered_and_left(cli, running_ruby):
    process = running_ruby("ruby", str(find_source("endless.rb")), until=b"counting")
    stop = answer_data(cli("--json", "attach", str(process.pid), "--pause", check=0))
    assert stop["reason"] == "pause"
    assert stop["frame"]["function"] in {"count", "Process.clock_gettime"}
    assert int(print_value(cli, "counter")) > 0
    assert answer_data(cli("--json", "detach", check=0))["detached"]
    assert process.poll() is None


def test_a_program_that_rdbg_has_opened_is_attached_to_before_it_runs(cli, running_ruby, tmp_path):
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    rdbg = Path(sys.exec_prefix, "none")
    rdbg = next(Path(os.path.realpath("/usr/bin/ruby")).parent.glob("rdbg*"), rdbg)
    words = ("--open", "--host", "127.0.0.1", "--port", str(port), "--", str(CART))
    process = running_ruby(str(rdbg), *words, until=b"wait for debugger")
    stop = answer_data(
        cli("--json", "attach", "--connect", f"localhost:{port}", "--pause", check=0)
    )
    assert stop["frame"]["file"] == str(CART)
    cli("break", marked_location("cart.rb", "total"), check=0)
    stop = answer_data(cli("--json", "continue", check=0))
    assert print_value(cli, "sum") == "8"
    cli("breakpoint", "remove", "--all", check=0)
    assert answer_data(cli("--json", "continue", check=0))["exit_code"] == 3
    assert process.wait(timeout=60) == 3


def test_a_server_that_is_no_debugger_is_said_in_time(cli, running_ruby):
    code = "s = TCPServer.new('127.0.0.1', 0); $stdout.sync = true; puts s.addr[1]; s.accept.close"
    process = running_ruby("ruby", "-rsocket", "-e", f"{code}; sleep")
    port = int(process.stdout.readline())
    told = cli("attach", "--connect", f"localhost:{port}", check=1)
    assert "not a debug server for rdbg" in told.err
    assert "rdbg --open" in told.err
    os.kill(process.pid, signal.SIGKILL)


# -- one question each finds a bug -----------------------------------------------------------------


def test_crash_calls_no_method_that_changes_what_it_shows(cli, tmp_path):
    (tmp_path / "taken.rb").write_text("stack = [7, 8, nil]\ntotal = 5 + stack.pop + stack.size\n")
    crash = answer_data(cli("--json", "crash", "--", "ruby", tmp_path / "taken.rb"))
    assert {one["name"]: one["value"] for one in crash["locals"]}["stack"] == "[7, 8]"
    assert {one["name"]: one["value"] for one in crash["values"]} == {"stack.size": "2"}


def test_crash_tells_the_exception_its_cause_and_its_frames(cli):
    crash = answer_data(cli("--json", "crash", "--", CART, "crash"))
    assert crash["cause"].startswith("PriceError: no price in 2 lines")
    assert crash["exception"]["causes"] == [
        'ArgumentError: invalid value for Integer(): "3x", in Cart#check cart.rb:24'
    ]
    assert crash["frame"]["function"] == "Cart#check"
    assert crash["exit_code"] == 1
    threaded = answer_data(cli("--json", "crash", "--", CART, "thread"))
    assert threaded["frame"]["function"] == "Cart#check"


def test_probe_shows_the_values_of_each_turn(cli):
    where = marked_location("cart.rb", "sum")
    probed = answer_data(
        cli("--json", "probe", "--at", where, "price * 1, sum", "--", CART, check=0)
    )
    price, total = probed["places"][0]["columns"]
    assert (price["first"], price["last"], total["last"]) == ("3", "5", "3")


OWN_NAMES = """\
class Base
  def self.find(key) = key * 2
  def twice(n) = n * 2
end
class Item < Base
  def self.name(node) = node.upcase
  def self.to_s = raise("not text")
  def self.grade(n) = name(n)
end
Item.grade("a")
Item.find(3)
Item.new.twice(4)
"""


def test_methods_are_found_by_a_class_that_has_another_name_method_or_inherits_them(cli, tmp_path):
    program = tmp_path / "own_names.rb"
    program.write_text(OWN_NAMES)
    words = ("Item.grade", "n", "Item.find", "key", "Base.find", "key", "Item#twice", "n")
    places = [word for at in range(0, 8, 2) for word in ("--at", words[at], words[at + 1])]
    probed = answer_data(cli("--json", "probe", *places, "--", "ruby", str(program)))
    assert [one["hits"] for one in probed["places"]] == [1, 1, 1, 1]
    assert "Item.grade" in cli("path", "--", "ruby", str(program)).out


@pytest.mark.parametrize(
    ("how", "kind", "text"),
    [
        ("mutexes", "deadlock", "waits for other.lock"),
        ("queues", "deadlock", "receives from done (Queue)"),
        ("signal", "waiting", "waits for opened (ConditionVariable) to be signalled"),
        # Of Ruby's own methods this one is written in Ruby.
        ("ractor", "waiting", "the main thread receives from Ractor"),
    ],
)
def test_hang_names_what_the_threads_wait_for(cli, how, kind, text):
    program = find_source("locks.rb")
    found = answer_data(cli("--json", "hang", "--after", "0.5", "--", program, how, check=0))
    assert found["kind"] == kind
    assert text in found["cause"]


def test_who_wrote_knows_all_writes_of_an_instance_variable_also_in_a_child(cli, tmp_path):
    program = find_source("watched.rb")
    told = answer_data(cli("--json", "who-wrote", "@level", "--at", f"{program}:19", "--", program))
    assert "3 → 7, in raise_by watched.rb:15" in told["cause"]
    parent = tmp_path / "parent.rb"
    parent.write_text(f"system('ruby', {str(program)!r})\n")
    child = cli("--json", "who-wrote", "@level", "--at", f"{program}:19", "--", parent)
    assert answer_data(child)["cause"] == told["cause"]


def test_writes_in_a_fiber_are_known_whose_first_frame_is_one_of_c(cli, tmp_path):
    (tmp_path / "fiber.rb").write_text(
        "fiber = Fiber.new do |first|\n  sum = first\n  sum = sum + Fiber.yield(sum)\n  puts sum\n"
        "end\nfiber.resume(1)\nfiber.resume(5)\n"
    )
    words = ("--json", "who-wrote", "sum", "--at", "fiber.rb:4", "--", "ruby", "fiber.rb")
    told = answer_data(cli(*words, cwd=tmp_path, check=0))
    assert [(one["frame"]["line"], one["final_new"]) for one in told["writers"]] == [
        (2, "1"),
        (3, "6"),
    ]


def test_a_write_of_a_method_without_a_line_of_its_own_is_that_methods(cli, tmp_path):
    (tmp_path / "clear.rb").write_text(
        "class Box\n  attr_reader :size\n  def initialize = @size = 1\n  def clear! = @size = nil\n"
        "end\nbox = Box.new\nbox.clear!\nputs box.size\n"
    )
    words = ("--json", "who-wrote", "box.size", "--at", "clear.rb:8", "--", "ruby", "clear.rb")
    told = answer_data(cli(*words, cwd=tmp_path))
    assert [one["frame"]["line"] for one in told["writers"]] == [3, 4]


@pytest.mark.parametrize(
    ("expression", "line", "writes"),
    [("total", 11, [(9, "6"), (10, "7")]), ("acc.total", 17, [(11, "21"), (16, "7")])],
)
def test_a_write_is_of_the_line_that_wrote_it_whatever_that_line_called(
    cli, expression, line, writes
):
    program = find_source("given.rb")
    told = answer_data(
        cli("--json", "who-wrote", expression, "--at", f"{program}:{line}", "--", program)
    )
    assert [(one["frame"]["line"], one["final_new"]) for one in told["writers"]] == writes


def test_holds_finds_the_statement_in_another_method(cli):
    words = ("--json", "holds", "@acc.balance >= 20", "--at", marked_location("bank.rb", "look"))
    told = answer_data(cli(*words, "--", find_source("bank.rb")))
    (broken,) = told["invariants"]
    assert broken["made_false_by"]["frame"]["line"] == find_marker("bank.rb", "fee")


def test_the_failing_test_of_minitest_is_explained(cli, tmp_path):
    (tmp_path / "cart_test.rb").write_text(
        'require "minitest/autorun"\n\n'
        "class CartTest < Minitest::Test\n"
        "  def test_counts\n    prices = [3, 5]\n    total = prices.sum\n"
        "    assert_equal 11, total\n  end\n\n"
        "  def test_fine\n    assert true\n  end\nend\n"
    )
    told = answer_data(cli("--json", "test", "--", "ruby", "cart_test.rb", cwd=tmp_path))
    assert (told["outcome"], told["test"]) == ("failed", "CartTest#test_counts")
    assert "Expected: 11 Actual: 8" in told["cause"]
    assert (told["frame"]["line"], told["method"]) == (7, "run again by rdbg")
    assert {"total": "8"}.items() <= {one["name"]: one["value"] for one in told["values"]}.items()


@pytest.mark.adapter("rspec")
def test_the_failing_example_of_rspec_is_explained(cli, tmp_path):
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "sum_spec.rb").write_text(
        'RSpec.describe "sums" do\n'
        '  it "adds" do\n    total = [3, 5].sum\n    expect(total).to eq 11\n  end\n'
        '  it "raises" do\n    [1].fetch(9)\n  end\nend\n'
    )
    told = answer_data(cli("--json", "test", "--", "rspec", cwd=tmp_path))
    assert (told["outcome"], told["test"], told["failed"]) == ("failed", "sums adds", 2)
    assert told["frame"]["line"] == 4
    assert {"total": "8"}.items() <= {one["name"]: one["value"] for one in told["values"]}.items()
