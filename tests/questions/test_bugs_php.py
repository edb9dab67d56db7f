"""One question each finds the bug of a PHP program of several files (tests/programs/bugs_php)."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_commands import answer_data
from debuggees import find_marker, find_source

pytestmark = pytest.mark.adapter("xdebug")
FOLDER = find_source("bugs_php/shop.php").parent
SHOP = ("php", "shop.php")


def marked(file: str, marker: str) -> str:
    return f"{file}:{find_marker(FOLDER / file, marker)}"


def test_crash_finds_the_line_of_a_file_that_is_no_order(cli):
    crash = answer_data(cli("--json", "crash", "--", *SHOP, "import", "bad.csv", cwd=FOLDER))
    assert crash["cause"].startswith("OrderError: bad order in line 2, in OrderReader->read")
    assert crash["exception"]["causes"] == [
        "ValueError: not a count: 'many', in OrderReader->parse OrderReader.php:28"
    ]
    assert crash["frame"]["line"] == int(marked("src/OrderReader.php", "wrapped").split(":")[1])
    assert {one["name"]: one["value"] for one in crash["locals"]}["$line"] == "'plum;many;40'"


def test_probe_finds_the_element_that_a_left_over_reference_overwrites(cli):
    where = marked("src/Report.php", "line")
    words = ("--json", "probe", "--at", where, "$rows[2]['product']")
    probed = answer_data(cli(*words, "--", *SHOP, "report", "orders.csv", cwd=FOLDER, check=0))
    (column,) = probed["places"][0]["columns"]
    assert (column["first"], column["last"]) == ("pear", "plum")


@pytest.mark.adapter("phpunit")
def test_test_finds_the_value_of_the_failing_test_and_calls_the_branch_not_taken(cli):
    told = answer_data(
        cli("--json", "test", "--", "phpunit", "--do-not-cache-result", "tests", cwd=FOLDER)
    )
    assert (told["outcome"], told["test"]) == ("failed", "PriceTest::testManyAreCheaper")
    assert "1200 is identical to 1080" in told["cause"]
    assert {one["name"]: one["value"] for one in told["values"]}["$cents"] == "1200"
    called = cli(
        "calls", "Price::of", "--", "phpunit", "--do-not-cache-result", "tests", cwd=FOLDER, check=0
    ).out
    assert "Price::of($cents=100, $count='12') → 1200" in called
    assert "if ($count > 'ten')" in called
    assert "0.9" not in called


def test_hang_finds_the_lock_that_a_process_waits_for_and_holds_itself(cli, tmp_path):
    lock = tmp_path / "day.lock"
    words = ("--json", "hang", "--after", "0.5", "--", *SHOP, "close", lock)
    found = answer_data(cli(*words, cwd=FOLDER, check=0))
    assert f"waits for a lock on {lock}, which it holds itself" in found["cause"]
    assert found["cause"].endswith(Path(marked("src/Lock.php", "lock")).name)
    functions = [one["function"] for one in found["groups"][0]["frames"]]
    assert (functions[0], functions[2:]) == ("Lock->run", ["Lock->run", "close_day"])


def test_holds_finds_the_order_that_takes_more_than_there_is(cli):
    where = marked("src/Stock.php", "left")
    words = ("--json", "holds", "$left >= 0", "--at", where)
    found = answer_data(cli(*words, "--", *SHOP, "sell", "sold.csv", cwd=FOLDER))
    (broken,) = found["invariants"]
    first = broken["first_false"]
    assert (broken["true"], first["ordinal"]) == (3, 4)
    assert first["frame"]["file"] == str(FOLDER / "src" / "Stock.php")


@pytest.mark.parametrize(
    ("how", "marker", "cause", "origin"),
    [
        ("key", "price", "key 'ink' is not in $this->prices (ErrorException)", "ink"),
        ("null", "label", "null: $found is null, ->name of it is read (ErrorException)", "none"),
    ],
)
def test_crash_finds_the_statement_of_which_an_error_handler_made_an_exception(
    cli, how, marker, cause, origin
):
    program = find_source("handled.php")
    found = answer_data(cli("--json", "crash", "--", program, how))
    assert found["cause"].startswith(cause)
    assert found["frame"]["line"] == find_marker("handled.php", marker)
    assert str(find_marker("handled.php", origin)) in str(found["why"])


# The program, how the cause begins, the followed expression, and what is known of it.
ONE_LINERS = {
    "an index that is a sum": (
        (
            "function parse(string $t): int { return (int) $t; }\n$a = ['1'];\n$i = 0;\n"
            "echo parse($a[$i + 1]);\n"
        ),
        "TypeError: parse(): Argument #1 ($t) must be of type string, null given",
        "$t",
        "$a has no element [1]",
    ),
    "the result of a call as an argument": (
        (
            "class S { private $items; function f() { return $this->items; } }\n$s = new S();\n"
            "echo count($s->f());\n"
        ),
        "count(): Argument #1 ($value) must be of type Countable|array, null given (TypeError)",
        "$s->f()",
        "$this->items written",
    ),
    "a size that divides": (
        "function avg(array $l) { return array_sum($l) / count($l); }\necho avg([]);\n",
        "division by zero: count($l) is 0 (DivisionByZeroError) with $l=[]",
        "$l",
        "$l passed to avg",
    ),
    "a function by its name": (
        "$f = 'strtouper';\necho $f('x');\n",
        "Error: Call to undefined function strtouper()",
        "$f",
        "$f written",
    ),
    "a warning of a function of PHP's own": (
        (
            "class U { public function __construct(public ?string $mail) {} }\n"
            "set_error_handler(fn($n, $m) => throw new ErrorException($m, 0, $n, __FILE__, 4));\n"
            "function domain(U $u): string { return explode('@', $u->mail)[1]; }\n"
            "echo domain(new U(null));\n"
        ),
        (
            "ErrorException: explode(): Passing null to parameter #2 ($string) of type string is "
            "deprecated, in domain"
        ),
        "$u->mail",
        "passed to U->__construct",
    ),
    "a returned element that is not there": (
        "function port(array $c): int {\n    return $c['port'];\n}\necho port(['a' => 1]);\n",
        "TypeError: port(): Return value must be of type int, null returned",
        "$c['port']",
        "$c has no element ['port']",
    ),
    "a returned text": (
        "function g(): int {\n    $r = 'abc';\n    return $r;\n}\necho g();\n",
        "TypeError: g(): Return value must be of type int, string returned",
        "$r",
        "$r written",
    ),
    "a text that divides": (
        "$n = '0';\necho 5 % $n;\n",
        "division by zero: $n is 0 (DivisionByZeroError)",
        "$n",
        "$n written",
    ),
    "what a constructor left": (
        (
            "class P { public ?P $next = null; function __construct(public int $v) {} }\n"
            "$a = new P(1);\n$n = $a->next;\necho $n->v();\n"
        ),
        "null: $n is null, ->v of it is called",
        "$n",
        "$a->next written",
    ),
    "a text that elements are appended to": (
        "$words = '';\nforeach (['a'] as $word) {\n    $words[] = $word;\n}\n",
        "Error: [] operator not supported for strings",
        "$words",
        "$words written",
    ),
    "a chain that is safe at its beginning only": (
        (
            "class A { public function __construct(public ?string $zip) {} }\n"
            "function label(?A $a): string { return 'zip ' . $a?->zip->length(); }\n"
            "label(new A(null));\n"
        ),
        "null: $a?->zip is null, ->length of it is called (Error), in label",
        "$a?->zip",
        "$zip passed to A->__construct",
    ),
    "false for an object": (
        (
            "function year(string $text): string {\n"
            "    $d = DateTime::createFromFormat('Y-m-d', $text);\n"
            "    return $d->format('Y');\n}\nyear('x');\n"
        ),
        "$d is false, ->format() of it is called (Error), in year",
        "$d",
        "$d written",
    ),
    "an object for an array": (
        (
            "function total(array $items): int {\n    $sum = 0;\n"
            '    foreach ($items as $item) {\n        $sum += $item["price"];\n    }\n'
            "    return $sum;\n}\ntotal(json_decode('[{\"price\": 3}]'));\n"
        ),
        "Error: Cannot use object of type stdClass as array",
        "$item",
        "$item written",
    ),
    "a text that is taken apart": (
        (
            "set_error_handler(fn($n, $m) => throw new ErrorException($m, 0, $n, __FILE__, 4));\n"
            "foreach (['b'] as $line) {\n    [$key, $value] = explode('=', $line);\n}\n"
        ),
        "key 1 is not in explode('=', $line) (ErrorException) with $line='b'",
        "$line",
        "$line written",
    ),
    "a value of no case": (
        (
            "enum Status: string { case Open = 'open'; }\n"
            "function parse(array $row): Status { return Status::from($row['status']); }\n"
            "parse(['status' => 'Open']);\n"
        ),
        'ValueError: "Open" is not a valid backing value for enum',
        "$row['status']",
        "$row passed to parse",
    ),
}
# Errors about what has no value: the statement's other variables are not to blame.
WITHOUT_VALUE = {
    "a property that nothing set": (
        "class A { private int $n; function add(int $x) { $this->n += $x; } }\n(new A)->add(5);\n"
    ),
    "a variable that a condition set": (
        "set_error_handler(fn($n, $m) => throw new ErrorException($m, 0, $n, __FILE__, 3));\n"
        "function rate(int $x) { if ($x > 9) { $r = 1; } return $x * $r; }\nrate(5);\n"
    ),
}


@pytest.mark.parametrize("program", ONE_LINERS)
def test_crash_names_the_value_of_a_small_bug_and_its_origin(cli, tmp_path, program):
    text, cause, expression, origin = ONE_LINERS[program]
    (tmp_path / "small.php").write_text(f"<?php\n{text}")
    found = answer_data(cli("--json", "crash", "--", "php", "small.php", cwd=tmp_path))
    assert found["cause"].startswith(cause)
    assert found["why"]["expression"] == expression
    assert origin in found["why"]["text"]


@pytest.mark.parametrize("program", WITHOUT_VALUE)
def test_crash_blames_no_other_variable_for_one_without_a_value(cli, tmp_path, program):
    (tmp_path / "small.php").write_text(f"<?php\n{WITHOUT_VALUE[program]}")
    found = answer_data(cli("--json", "crash", "--", "php", "small.php", cwd=tmp_path))
    assert found["outcome"] == "crashed"
    assert "why" not in found or found["why"] is None


def test_a_dot_for_an_arrow_is_named(cli, tmp_path):
    (tmp_path / "small.php").write_text("<?php\n$user = new stdClass;\necho $user.name;\n")
    found = answer_data(cli("--json", "crash", "--", "php", "small.php", cwd=tmp_path))
    assert "`.` joins two texts, $user->name reads a property" in found["cause"]
