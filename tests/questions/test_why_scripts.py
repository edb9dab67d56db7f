"""Follows values of Ruby and PHP back to the line that is at fault, by one recorded run."""

from __future__ import annotations

import pytest

from cli_commands import answer_data
from debuggees import find_marker, find_source

# The expression at a marked line, the statement at fault, and how the chain ends.
PHP = [
    ("$rate", "self::$cache[$key] = $defaults + ['name' => $name];", "not followed"),
    ("$total", "$factor = $this->options['factor'] ?? 0;", "constant"),
    ("$last", "foreach ($rows as $row) {", "not followed"),
    ("$best", "return strcmp($a, $b) > 0 ? $a : $b;", "constant"),
    ("$count", "[$name, $count, $price] = explode(';', $line);", "constant"),
    ("$limit", "$target[$key] = $value;", "constant"),
    ("$b", "$prices = ['a' => 3, 'b' => 0, 'c' => 5];", "constant"),
    ("$who", "$a2->customer = '';", "constant"),
    ("$left", "$sum -= $n;", "not followed"),
    ("$code", "} catch (RuntimeException $error) {", "not followed"),
    ("$y", "$found[$id] = 'nobody';", "constant"),
    ("$first", "usort($rows, fn($p, $q) => $q <=> $p);", "not followed"),
    ("$cost", "$basket->lines[0]->price -= 60;", "not followed"),
    ("$label", "$box = new Weighed(new Weighed(null, null), 25);", "constant"),
    # A copy has the fields of its object; an arrow function is a call as others are.
    (
        "$tagged->size",
        "$sizes = array_map(fn (?int $size): Tagged => new Tagged($size), [null]);",
        "not followed",
    ),
]
RUBY = [
    ("size", "@entries[key] ||= { name: name, size: name.size }", "constant"),
    ("tags", "options[:tags] << extra[:tag] if extra[:tag]", "constant"),
    ("count", 'name, count = line.split(";")', "constant"),
    ("mean", "values.each { |one| sum += one }", "not followed"),
    ("best", "best = values.first", "constant"),
    ("last", "found << rows[i, size].sum", "not followed"),
    ("left", "step = -> (by) { count += by }", "not followed"),
    ("money", "@balance += amount", "not followed"),
    ("title", 'copy << "!"', "constant"),
    ("message", "rescue KeyError => error", "not followed"),
    ("first", "sorted = [3, 1, 2].sort { |a, b| b <=> a }", "not followed"),
    ("cell", "grid[0][1] = 7", "constant"),
    # Its body is no line of its own.
    ("double", "def twice(number) = number * 2", "constant"),
    # A thread's and a fiber's blocks write variables of the code that made them.
    ("spent", "thread = Thread.new { [3, 4].each { |one| spent += one } }", "not followed"),
    ("spent", "got = Fiber.yield start", "not followed"),
    # The default of a hash is one object for all keys.
    ("inks", 'stock[:pens] << "blue"', "constant"),
    ("label", "def clear! = self.grams = nil", "constant"),
    ("tagged.size", 'tagged = Tagged.new(nil).tagged("x")', "constant"),
]


def follow(cli, interpreter, program, number, expression):
    place = f"{program}:{find_marker(program, f'mark{number}')}"
    words = ("--json", "why", expression, "--at", place, "--", interpreter, find_source(program))
    return answer_data(cli(*words, cwd=find_source(program).parent, check=0))


@pytest.mark.adapter("xdebug")
@pytest.mark.parametrize(("number", "case"), list(enumerate(PHP, 1)))
def test_why_of_php_names_the_statement_at_fault(cli, number, case):
    expression, statement, ended = case
    found = follow(cli, "php", "why_values.php", number, expression)
    assert statement in [one["statement"] for one in found["links"]]
    assert (found["ended"], found["runs"]) == (ended, 1)


@pytest.mark.adapter("rdbg")
@pytest.mark.parametrize(("number", "case"), list(enumerate(RUBY, 1)))
def test_why_of_ruby_names_the_statement_at_fault(cli, number, case):
    expression, statement, ended = case
    found = follow(cli, "ruby", "why_values.rb", number, expression)
    assert statement in [one["statement"] for one in found["links"]]
    assert (found["ended"], found["runs"]) == (ended, 1)


@pytest.mark.adapter("xdebug")
def test_why_says_which_statement_made_a_loop_variable_a_reference(cli):
    found = follow(cli, "php", "why_values.php", 3, "$last")
    link = next(one for one in found["links"] if one["statement"] == "foreach ($rows as $row) {")
    assert (link["old"], link["new"]) == ("'c'", "'b'")
    (fact,) = link["details"]
    assert fact.startswith("$row is a reference to it since line ")


@pytest.mark.adapter("rdbg")
def test_why_says_which_two_names_are_one_object(cli):
    found = follow(cli, "ruby", "why_values.rb", 12, "cell")
    assert found["links"][1]["details"] == ["grid[0] is the same object as grid[1]"]


@pytest.mark.adapter("rdbg")
def test_why_at_a_crash_of_ruby_follows_the_value_of_its_line(cli, tmp_path):
    script = tmp_path / "crash.rb"
    script.write_text("def find(id)\n  { 1 => 2 }[id]\nend\nx = find(3)\nputs x + 1\n")
    found = answer_data(
        cli("--json", "why", "x", "--at", "crash", "--", "ruby", script, cwd=tmp_path, check=0)
    )
    assert found["value"] == "nil"
    assert [one["text"] for one in found["links"][:2]] == ["x written", "returned by find"]


@pytest.mark.adapter("rdbg")
def test_the_line_of_a_crash_is_that_of_the_thread_that_failed(cli, tmp_path):
    script = tmp_path / "threads.rb"
    script.write_text(
        "def handle(n)\n  raise 'bad' if n == 7\nend\n"
        "failing = Thread.new { handle(7) }\nThread.pass while failing.alive?\n"
        "handle(9)\nfailing.join\n"
    )
    words = ("--json", "why", "n", "--at", "crash", "--", "ruby", script)
    assert answer_data(cli(*words, cwd=tmp_path, check=0))["value"] == "7"


@pytest.mark.adapter("xdebug")
def test_why_says_that_a_place_was_not_reached_and_that_a_name_is_unknown(cli, tmp_path):
    script = tmp_path / "short.php"
    script.write_text("<?php\n$x = 1;\nif ($x > 1) {\n    echo $x;\n}\necho $x;\n")
    words = ("--", "php", script)
    missed = cli("why", "$x", "--at", "short.php:4", *words, cwd=tmp_path, check=None)
    assert "short.php:4 was not reached" in missed.err
    assert "(a PHP that it starts is not recorded)" in missed.err
    blank = cli("why", "$x", "--at", "short.php:5", *words, cwd=tmp_path, check=None)
    assert "no code at short.php:5; the next line with code that ran is 6" in blank.err
    unknown = cli("why", "$y", "--at", "short.php:6", *words, cwd=tmp_path, check=None)
    assert "Undefined variable $y" in unknown.err
    failed = cli("why", "nothing()", "--at", "short.php:6", *words, cwd=tmp_path, check=None)
    assert "undefined function nothing()" in failed.err


@pytest.mark.adapter("xdebug")
def test_why_follows_an_argument_that_php_refused(cli, tmp_path):
    script = tmp_path / "refused.php"
    script.write_text(
        "<?php\nfunction price(int $p): int { return $p * 2; }\n"
        "$prices = [4, 9];\nfor ($i = 0; $i <= 2; $i++) {\n    echo price($prices[$i]);\n}\n"
    )
    words = ("--json", "crash", "--", "php", script)
    origin = answer_data(cli(*words, cwd=tmp_path, check=0))["why"]
    assert (origin["expression"], origin["value"]) == ("$p", "null")
    assert origin["text"] == "$prices has no element [2]"


@pytest.mark.adapter("rdbg")
def test_why_of_a_program_with_a_syntax_error_says_how_it_ended(cli, tmp_path):
    script = tmp_path / "bad.rb"
    script.write_text("x = (\n")
    words = ("why", "x", "--at", "bad.rb:1", "--", "ruby", script)
    failed = cli(*words, cwd=tmp_path, check=None)
    assert failed.exit == 1
    assert "it exited with status 1" in failed.err
    assert "syntax error" in failed.err


@pytest.mark.adapter("xdebug")
def test_the_requests_of_a_php_server_are_not_recorded(cli, tmp_path):
    script = tmp_path / "router.php"
    script.write_text("<?php\necho 1;\n")
    failed = cli("path", "--", "php", "-S", "localhost:0", script, cwd=tmp_path, check=None)
    assert "the requests of PHP's own server are not recorded" in failed.err
    assert "debugger probe --at FILE:LINE" in failed.err


PROMOTED = """<?php
class Account {
    public function __construct(private float $balance = 0.0) {}
    public function withdraw(float $x): void {
        if ($x > $this->balance) { throw new RuntimeException("insufficient"); }
    }
}
function apply_fee(Account &$account, array $fees): void {
    $fee = array_sum($fees);
    $account->withdraw($fee);
}
$account = new Account(25);
apply_fee($account, [25, 1.0]);
"""


ACCOUNTS = """class Account
  def initialize(balance) = @balance = balance
  def withdraw(x)
    raise "insufficient" if x > @balance
  end
end
def run(account)
  account.withdraw(26)
end
run(Account.new(25))
"""


@pytest.mark.adapter("xdebug")
def test_the_object_of_a_php_method_is_followed_to_where_it_was_made(cli, tmp_path):
    (tmp_path / "fees.php").write_text(PROMOTED)
    words = ("--json", "why", "$this", "--at", "fees.php:5", "--", "php", "fees.php")
    found = answer_data(cli(*words, cwd=tmp_path, check=0))
    lines = [one["frame"]["line"] for one in found["links"]]
    assert (lines, found["ended"]) == ([10, 13, 12], "allocation")
    assert found["ending"] == "it was made by new Account(25)"
    # The object is a value that `crash` looks at, too.
    crash = answer_data(cli("--json", "crash", "--", "php", "fees.php", cwd=tmp_path, check=0))
    assert (crash["why"]["expression"], crash["why"]["reason"]) == ("$x", "")


@pytest.mark.adapter("rdbg")
def test_the_object_of_a_ruby_method_is_followed_to_where_it_was_made(cli, tmp_path):
    (tmp_path / "fees.rb").write_text(ACCOUNTS)
    words = ("--json", "why", "self", "--at", "fees.rb:4", "--", "ruby", "fees.rb")
    found = answer_data(cli(*words, cwd=tmp_path, check=0))
    lines = [one["frame"]["line"] for one in found["links"]]
    assert (lines, found["ended"]) == ([8, 10], "allocation")
    assert found["ending"] == "it was made by Account.new(25)"


def follow_crash(cli, interpreter, program, how, expression):
    words = ("--json", "why", expression, "--at", "crash", "--")
    found = answer_data(cli(*words, interpreter, find_source(program), how, check=0))
    return [one["frame"]["line"] for one in found["links"]]


@pytest.mark.adapter("rdbg")
@pytest.mark.parametrize("how", ["attribute", "short", "yield"])
def test_the_argument_of_a_block_is_followed_when_its_method_has_returned(cli, how):
    lines = follow_crash(cli, "ruby", "called_later.rb", how, "n")
    assert find_marker("called_later.rb", "zero") in lines


@pytest.mark.adapter("xdebug")
@pytest.mark.parametrize("how", ["property", "map", "sort", "reduce"])
def test_the_argument_of_a_closure_is_followed_through_a_value_and_phps_own_functions(cli, how):
    lines = follow_crash(cli, "php", "called_later.php", how, "$n")
    assert find_marker("called_later.php", "zero") in lines
