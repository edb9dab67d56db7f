"""What a statement of Ruby or PHP gives to a value."""

from __future__ import annotations

import pytest

from debugger.questions.why import script_calls
from debugger.questions.why import script_statement as statements
from debugger.questions.why.statement_origin import OriginKind

CONSTANT, OPERAND = OriginKind.CONSTANT, OriginKind.OPERAND
CALL, COMPUTED = OriginKind.CALL, OriginKind.COMPUTED


@pytest.mark.parametrize(
    ("statement", "names", "kind", "text"),
    [
        ("$x = 5;", ["x"], CONSTANT, "5"),
        ("$x = 'a;b';", ["x"], CONSTANT, "'a;b'"),
        ("x = nil if y", ["x"], CONSTANT, "nil"),
        ("$this->a->b = $c['k'];", ["b"], OPERAND, "$c['k']"),
        ("@total = order.lines", ["total"], OPERAND, "order.lines"),
        ("[$a, $b] = [$c, $d];", ["b"], OPERAND, "$d"),
        ("first, last = rows.first, 3", ["last"], CONSTANT, "3"),
        ("$x = load($y, 2);", ["x"], CALL, "load($y, 2)"),
        ("$x .= $y;", ["x"], COMPUTED, "$x . $y"),
        ("$x ??= $y;", ["x"], OPERAND, "$y"),
        ("@x ||= compute(1)", ["x"], CALL, "compute(1)"),
        ("list << entry", ["list", "[0]"], OPERAND, "entry"),
        ("options.merge!(rate: nil)", ["options", "[:rate]"], CONSTANT, "nil"),
        ("$x = ['a' => 1, 'b' => 2];", ["x"], CONSTANT, "['a' => 1, 'b' => 2]"),
        ("$x = $a == 1 ? $b : $c;", ["x"], COMPUTED, "$a == 1 ? $b : $c"),
        ("public function set(?int $n): void { $this->n = $n; }", ["n"], OPERAND, "$n"),
        ("function &get(int $n): int { return $n; }", [], OPERAND, "$n"),
    ],
)
def test_the_right_side_of_a_statement(statement, names, kind, text):
    origin, _ = statements.origin_in(statement, names)
    assert (origin.kind, origin.text) == (kind, text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{ "a" => 10 } + b', ("b",)),
        ('"v #{y.size} z" + w', ("y.size", "w")),
        ("\"total $a[k] {$b->c}\" . '$d'", ("$a[k]", "$b->c")),
        ("\"it's\" + a['k']", ("a['k']",)),
    ],
)
def test_words_of_a_literal_string_are_no_operands(text, names):
    assert statements.computed(text).operands == names


def test_the_keys_of_a_target_are_counted():
    assert statements.origin_in("$a['x'][0] = $b;", ["a", "['x']", "[0]", "['y']"])[1] == 2
    assert statements.origin_in("$a = $b;", ["a", "['x']"])[1] == 0


@pytest.mark.parametrize(
    ("text", "key", "part"),
    [
        ("['name' => $name, 'n' => f(1, 2)]", "['n']", "f(1, 2)"),
        ("{ name: x, count: y }", "[:count]", "y"),
        ("[1, [2, 3], 4]", "[1]", "[2, 3]"),
        ("[1, 2]", "[5]", None),
        ("$rows", "[0]", None),
    ],
)
def test_the_part_of_a_literal_at_a_key(text, key, part):
    assert statements.literal_part(text, key) == part


def test_the_branches_of_a_choice():
    assert statements.split_branches("$a > 1 ? f($b) : 'x : y'") == ("f($b)", "'x : y'")
    assert statements.split_choice("$a['k'] ?? 0") == ("$a['k']", "??", "0")
    assert statements.split_branches("empty? && x") is None


def test_statements_of_several_lines_are_joined_and_comments_left_out():
    lines = ["$x = f(  // why", "    $a,", "    $b", ");", "$y = 1;"]
    assert statements.statement_lines(lines, 1) == "$x = f( $a, $b );"
    assert (
        statements.statement_lines(["rows.each do |row|", "  x = row"], 1) == "rows.each do |row|"
    )
    assert statements.statement_lines(["x = rows", "  .map { |r| r }", "y"], 1).endswith(
        "{ |r| r }"
    )


@pytest.mark.parametrize(
    ("statement", "function", "arguments"),
    [
        ("$x = add($a, [1, 2]);", "Cart->add", ("$a", "[1, 2]")),
        ('deposit "Ann", 3 if ok', "Bank#deposit", ('"Ann"', "3")),
        ("$o = new Order('Ann', ['a' => 1]);", "Shop\\Order->__construct", ("'Ann'", "['a' => 1]")),
        ("Cart.new(lines)", "Cart#initialize", ("lines",)),
        ("array_map($f, $rows);", "{closure}", None),
    ],
)
def test_the_arguments_of_a_call(statement, function, arguments):
    made = script_calls.list_called_arguments(statement, function)
    assert next(iter(made), None) == arguments


def test_the_calls_of_a_statement_stand_in_the_order_in_which_they_begin():
    statement = "$r = total(new Box(1), new Node(new Node(null, 0), 2.5));"
    made = script_calls.list_called_arguments(statement, "Node->__construct")
    assert made == [("null", "0"), ("new Node(null, 0)", "2.5")]


def test_calls_in_an_expression_are_found_without_what_is_no_call():
    text = "$sum + $this->price($code, f(1)) * (isset($x) ? 2 : new Box(3)) . self::of('a(b)')"
    found = script_calls.find_calls(text)
    assert found == ["$this->price($code, f(1))", "self::of('a(b)')"]
    assert "price" not in script_calls.without_calls(text, found)


def test_defaults_and_loops():
    assert script_calls.default_of("def add(name, price = 3, tags: [])", "price") == "3"
    assert (
        script_calls.default_of("function add(string $a, ?int $b = null): void {", "$b") == "null"
    )
    assert statements.loop_source("foreach ($rows as $k => &$row) {", "row") == "$rows"
    assert statements.is_loop_key("foreach ($rows as $k => $row) {", "$k")
    assert not statements.is_loop_key("foreach ($rows as $k => $row) {", "$row")


def test_which_statements_assign_to_a_name():
    assert statements.assigns_name("$row['a'][] = 2;", "row")
    assert statements.assigns_name("$i++;", "i")
    assert statements.assigns_name("[$a, $b] = f();", "b")
    assert statements.assigns_name("a, b = f", "b")
    assert not statements.assigns_name("f($row, $x = 1);", "row")
    assert not statements.assigns_name("if ($row == 1) {", "row")


@pytest.mark.parametrize(
    ("statement", "name", "key"),
    [
        ("[$a, $b] = f();", "$b", "[1]"),
        ("['lo' => $a, 'hi' => $b] = f();", "$b", "['hi']"),
        ("first, last = ends", "last", "[1]"),
        ("head, *rest = list", "head", "[0]"),
        ("head, *rest = list", "rest", None),
        ("[$a, $b] = [$b, $a];", "$a", None),
        ("for ($i = 0, $j = 1; $i < 3; $i++) {", "$j", None),
        ("f($a, $b = 5);", "$b", None),
        ("[$a] = f();", "$a", "[0]"),
        ("[$a] = [$b];", "$a", None),
        ("$a = f();", "$a", None),
    ],
)
def test_the_key_that_a_statement_takes_apart(statement, name, key):
    assert statements.destructured_key(statement, name) == key


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("array_map(fn($x) => $x->price, $this->lines)", "$this->lines[0]->price"),
        ("array_map(fn(Line $x): int => $x->price, $lines)", "$lines[0]->price"),
        ("array_map(fn($x) => $x * 2, $lines)", None),
        ("@lines.map { |one| one[1] }", "@lines[0][1]"),
        ("lines.map(&:price)", "lines[0].price"),
        ("lines.map { |one| one.price * 2 }", None),
    ],
)
def test_the_part_of_an_element_that_map_gives(text, part):
    assert statements.mapped_part(text, "[0]") == part


def test_the_loop_that_counts_by_a_name():
    assert statements.counting_loop("for ($i = 0; $i <= count($a); $i++) {", "$i") == (
        "for ($i = 0; $i <= count($a); $i++)"
    )
    assert statements.counting_loop("for ($i = 0; $i < 3; $i++) {", "$j") is None
    assert statements.counting_loop("$i++;", "$i") is None


def test_lines_without_code():
    assert [
        one for one in ("", "  // x", "}", "  end", "# y", "$a;") if statements.is_blank(one)
    ] == [
        "",
        "  // x",
        "}",
        "  end",
        "# y",
    ]
