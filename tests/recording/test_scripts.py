"""Records runs of Ruby and PHP: their calls, their lines, and where two runs part."""

from __future__ import annotations

import subprocess

import pytest

from cli_commands import answer_data
from debuggees import find_source

SYNTAX = find_source("php_syntax.php")

SCRIPTS = {
    "ruby": (
        "def price(count)\n  if count > 9\n    return count * 2\n  end\n  count * 3\nend\n"
        "n = ARGV[0].to_i\np price(n)\nexit(n > 9 ? 1 : 0)\n"
    ),
    "php": (
        "<?php\nfunction price($count) {\n  if ($count > 9) {\n    return $count * 2;\n  }\n"
        "  return $count * 3;\n}\n$n = (int) $argv[1];\necho price($n), PHP_EOL;\n"
        "exit($n > 9 ? 1 : 0);\n"
    ),
}
LANGUAGES = [
    pytest.param("ruby", marks=pytest.mark.adapter("rdbg")),
    pytest.param("php", marks=pytest.mark.adapter("xdebug")),
]


@pytest.fixture(params=LANGUAGES)
def command(request, tmp_path):
    """A program in a language, without its argument."""
    script = tmp_path / f"price.{'rb' if request.param == 'ruby' else 'php'}"
    script.write_text(SCRIPTS[request.param])
    return request.param, script


def test_path_shows_the_calls_with_arguments_and_results(cli, command, tmp_path):
    shown = cli("path", "--", *command, "4", cwd=tmp_path, check=0).out
    assert "2 calls of 2 functions" in shown
    assert "count=4" in shown.replace("$", "")
    assert "→ 12" in shown


@pytest.mark.adapter("rdbg")
def test_path_calls_what_a_thread_and_a_fiber_begin_with_blocks(cli, tmp_path):
    (tmp_path / "blocks.rb").write_text(
        "Thread.new do\n  puts 'in a thread'\nend.join\nFiber.new { puts 'in a fiber' }.resume\n"
    )
    shown = cli("path", "--", "ruby", "blocks.rb", cwd=tmp_path, check=0).out
    assert "3 calls of 3 functions" in shown
    assert "<main> blocks.rb:1 →" in shown
    assert "block in <main> :2" in shown
    assert "block in <main> :4" in shown
    assert "had not ended" not in shown


@pytest.mark.adapter("rdbg")
def test_path_ends_a_block_that_an_object_keeps_and_sees_what_left_its_caller(cli, tmp_path):
    (tmp_path / "kept.rb").write_text(
        "class Kept\n  def initialize\n    @block = ->(n) { n > 1 ? nil : 1 }\n  end\n"
        "  def over\n    [1, 2].select { |n| n > @block.call(n) }\n  end\nend\n"
        "Thread.new { Kept.new.over }.join\n"
    )
    shown = cli("path", "--", "ruby", "kept.rb", cwd=tmp_path, check=0).out
    assert "had not ended" not in shown
    assert "Kept#over :5" in shown
    assert "raised ArgumentError: comparison of Integer with nil failed" in shown
    assert "over :5 → nil" not in shown


def test_path_names_the_lines_that_only_the_failing_run_passed(cli, command, tmp_path):
    good = " ".join(map(str, (*command, "4")))
    shown = cli("path", "--vs", good, "--", *command, "12", cwd=tmp_path, check=0).out
    assert "1 failing run, 1 passing" in shown
    assert "return" in shown
    assert "count * 2" in shown


def test_diff_finds_the_first_step_at_which_two_runs_part(cli, command, tmp_path):
    other = " ".join(map(str, (*command, "12")))
    found = answer_data(cli("--json", "diff", "--vs", other, "--", *command, "4", cwd=tmp_path))
    assert "count * 3" in found["left"][0]["text"]
    assert "count * 2" in found["right"][0]["text"]
    values = {one["name"].lstrip("$"): (one["left"], one["right"]) for one in found["differences"]}
    assert values["count"] == ("4", "12")


def test_path_tells_the_exception_that_left_a_call(cli, tmp_path, command):
    language, script = command
    text = {
        "ruby": "def fail_at(n)\n  raise ArgumentError, 'no' if n > 1\nend\nfail_at(2)\n",
        "php": "<?php\nfunction fail_at($n) {\n  if ($n > 1) throw new LogicException('no');\n}\n"
        "fail_at(2);\n",
    }
    script.write_text(text[language])
    shown = cli("path", "--", *command, cwd=tmp_path, check=0).out
    assert "raised ArgumentError: no" in shown or "raised LogicException: no" in shown


@pytest.mark.adapter("xdebug")
def test_a_recorded_php_script_runs_as_it_does_alone(cli, tmp_path):
    alone = subprocess.run(["php", SYNTAX], capture_output=True, text=True, check=True)
    shown = cli("--json", "path", "--", "php", SYNTAX, cwd=tmp_path, check=0)
    (run,) = answer_data(shown)["runs"]
    assert (run["exit_code"], alone.returncode) == (0, 0)
    lines = [line for line in alone.stdout.splitlines() if line.strip()]
    assert [one["text"] for one in run["output"]] == lines[-6:]
    assert run["output_total"] == len(lines)


@pytest.mark.adapter("rdbg")
def test_path_does_not_say_that_a_failed_test_of_ruby_returned(cli, tmp_path):
    script = tmp_path / "total_test.rb"
    script.write_text(
        'require "minitest/autorun"\n'
        "class TotalTest < Minitest::Test\n  def test_total\n    assert_equal 7, total\n  end\n\n"
        "  def total\n    4\n  end\nend\n"
    )
    shown = cli("path", "--", "ruby", script, cwd=tmp_path, check=0).out
    assert "TotalTest#test_total :3 → nil, or left by Minitest::Assertion" in shown
    assert "\n  TotalTest#total :7 → 4" in shown


@pytest.mark.adapter("rdbg")
def test_a_program_that_is_killed_leaves_no_recording(cli, tmp_path):
    script = tmp_path / "killed.rb"
    script.write_text("Process.kill(:KILL, Process.pid)\nsleep\n")
    failed = cli("path", "--", "ruby", script, cwd=tmp_path, check=1)
    assert "killed.rb was recorded: it was killed" in failed.err
    assert "debugger crash -- ruby " in failed.err
    assert "killed.rb (shows how it ended)" in failed.err
