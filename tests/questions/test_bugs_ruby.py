"""One question each finds the bug of a Ruby program of several files (tests/programs/bugs_ruby)."""

from __future__ import annotations

import pytest

from cli_commands import answer_data
from debuggees import find_marker, find_source

pytestmark = pytest.mark.adapter("rdbg")
FOLDER = find_source("bugs_ruby/shop.rb").parent
SHOP = ("ruby", "shop.rb")


def marked(file: str, marker: str) -> str:
    return f"{file}:{find_marker(FOLDER / file, marker)}"


def test_crash_finds_the_line_of_a_file_that_is_no_entry(cli):
    crash = answer_data(cli("--json", "crash", "--", *SHOP, "load", "bad.csv", cwd=FOLDER))
    assert crash["cause"].startswith("LedgerError: bad entry in line 2, in block in Ledger#load")
    assert crash["exception"]["causes"][0].startswith(
        'ArgumentError: invalid value for Integer(): "3x", in '
    )
    assert {one["name"]: one["value"] for one in crash["locals"]}["line"] == '"bob;3x"'


def test_probe_finds_the_array_that_two_accounts_share(cli):
    where = marked("lib/ledger.rb", "summed")
    words = (
        "--json",
        "probe",
        "--at",
        where,
        "account, @entries.values.uniq(&:object_id).size, @entries.size",
    )
    probed = answer_data(cli(*words, "--", *SHOP, "sums", "entries.csv", cwd=FOLDER, check=0))
    account, arrays, accounts = probed["places"][0]["columns"]
    assert (account["first"], account["last"]) == ('"ada"', '"bob"')
    assert (arrays["last"], accounts["last"]) == ("1", "2")


def test_who_wrote_finds_the_write_of_an_attribute_in_another_file(cli):
    words = ("--json", "who-wrote", "ledger.balance", "--at", marked("shop.rb", "balance"))
    told = answer_data(cli(*words, "--", *SHOP, "balance", "entries.csv", cwd=FOLDER, check=0))
    where = marked("lib/ledger.rb", "corrected").removeprefix("lib/")
    assert f"550 → 20, in correct {where}" in told["cause"]


def test_test_finds_the_values_of_the_failing_test(cli):
    told = answer_data(cli("--json", "test", "--", "ruby", "test/ledger_test.rb", cwd=FOLDER))
    assert (told["outcome"], told["test"]) == ("failed", "LedgerTest#test_accounts_are_apart")
    assert "Expected: [5, 7] Actual: [12, 12]" in told["cause"]
    assert {one["name"]: one["value"] for one in told["values"]}["sums"] == "[12, 12]"


def test_hang_finds_the_queue_that_nobody_fills(cli):
    words = ("--json", "hang", "--after", "0.5", "--", *SHOP, "close")
    found = answer_data(cli(*words, cwd=FOLDER, check=0))
    assert found["kind"] == "deadlock"
    assert "receives from @jobs (Queue)" in found["cause"]
    assert marked("lib/workers.rb", "joins").removeprefix("lib/") in found["cause"]


def test_holds_finds_the_order_that_takes_more_than_there_is(cli):
    words = ("--json", "holds", "left >= 0", "--at", marked("lib/stock.rb", "left"))
    found = answer_data(cli(*words, "--", *SHOP, "sell", cwd=FOLDER))
    (broken,) = found["invariants"]
    first = broken["first_false"]
    assert (broken["true"], first["ordinal"]) == (3, 4)
    assert first["values"][0]["after"] == "-2"
    assert [one["function"] for one in first["callers"]] == ["block in sell", "sell", "<main>"]
    # In the same call: the variable of the call before is another one.
    made = broken["made_false_by"]
    assert made["text"] == "left = @counts[product] - count"
    assert made["operands"] == [{"expression": "left", "before": None, "after": "-2"}]


@pytest.mark.parametrize("method", ["price", "whole", "endless"])
def test_crash_follows_an_instance_variable_and_the_body_of_an_endless_method(
    cli, tmp_path, method
):
    (tmp_path / "cart.rb").write_text(
        "class Cart\n  def initialize = @items = { pen: 1 }\n"
        "  def price(key)\n    @items[key] * 2\n  end\n"
        "  def whole(key)\n    @items[:pen].abs + @items[key].abs\n  end\n"
        "  def endless(key) = @items[key] * 2\nend\n"
        "Cart.new.send(ARGV[0], :ink)\n"
    )
    found = answer_data(cli("--json", "crash", "--", "ruby", "cart.rb", method, cwd=tmp_path))
    assert {one["name"]: one["value"] for one in found["values"]}["@items"] == "{pen: 1}"
    assert found["why"]["expression"] == "@items[key]"
    assert "@items has no element [:ink]" in str(found["why"])


# The program, how the cause begins, the followed expression, and what is known of it.
ONE_LINERS = {
    "an index that is a sum": (
        "def after(items, at) = items[at + 1].succ\nputs [0, 1].map { |at| after([1, 2], at) }\n",
        "nil: items[at+1] is nil, .succ of it is called",
        "items[at+1]",
        "items has no element [2]",
    ),
    "a predicate": (
        "first, second = [1]\nputs second.even?\n",
        "nil: second is nil, .even? of it is called",
        "second",
        "second written",
    ),
    "a setter": (
        "user = nil\nuser.city = 3\n",
        "nil: user is nil, .city of it is set",
        "user",
        "user written",
    ),
    "a key that is fetched": (
        "def load\n  { a: 1 }\nend\nfound = load\nputs found.fetch(:b)\n",
        "key :b is not in found (KeyError) with found={a: 1}",
        "found",
        "returned by load",
    ),
    "an array that cannot be sorted": (
        "scores = [3, nil, 1]\nputs scores.sort.inspect\n",
        "ArgumentError: comparison of NilClass with 1 failed",
        "scores",
        "scores written",
    ),
    "an exception of a module": (
        "require 'json'\ntext = '{'\nputs JSON.parse(text)\n",
        "JSON::ParserError: ",
        "text",
        "text written",
    ),
    "the environment": (
        "puts ENV['NO_SUCH_NAME'].to_i + ENV['NO_SUCH_NAME'].length\n",
        "nil: ENV['NO_SUCH_NAME'] is nil, .length of it is called",
        "ENV['NO_SUCH_NAME']",
        "it is NO_SUCH_NAME of the program's environment",
    ),
    "an operand of the wrong type": (
        "def add(sum, x) = sum + x\nputs add(1, '3')\n",
        "TypeError: String can't be coerced into Integer",
        "x",
        "x passed to add",
    ),
    "a difference that divides": (
        "2.times { |i| puts 10 / (i - 1) }\n",
        "division by zero: i-1 is 0 (ZeroDivisionError) with i=1",
        "i-1",
        "i passed to block",
    ),
    "a method of Ruby that is written in Ruby": (
        "text = '5 apples'\nputs Float(text) * 2\n",
        "ArgumentError: invalid value for Float()",
        "text",
        "text written",
    ),
    "a value in a message": (
        'def find(id) = raise(ArgumentError, "no #{id}")\nfind(7)\n',
        "ArgumentError: no 7",
        "id",
        "id passed to find",
    ),
    "a variable that nothing wrote": (
        (
            "class User\n  def initialize(name)\n    @nmae = name\n  end\n"
            "  def shout\n    @name.upcase\n  end\nend\nputs User.new('bo').shout\n"
        ),
        "nil: @name is nil, .upcase of it is called",
        "@name",
        "nothing wrote @name, its object has @nmae",
    ),
    "one of two elements of text keys": (
        (
            "def total(items)\n  items.sum { |item| item[:price] * item[:count] }\nend\n"
            "total([{ 'price' => 3, 'count' => 2 }])\n"
        ),
        "nil: item[:price] is nil, * of it is called (NoMethodError), in block in total",
        "item[:price]",
        "item has no element [:price]",
    ),
    "an element that is counted up": (
        "counts = {}\n%w[a b].each { |word| counts[word] += 1 }\n",
        "nil: counts[word] is nil, + of it is called (NoMethodError), in block in <main>",
        "counts[word]",
        "counts has no element",
    ),
    "a safe navigation that ends too early": (
        (
            "User = Struct.new(:address)\nAddress = Struct.new(:zip)\n"
            "def label(user) = user&.address&.zip.upcase\nlabel(User.new(nil))\n"
        ),
        "nil: user&.address&.zip is nil, .upcase of it is called (NoMethodError), in label",
        "user&.address&.zip",
        "",
    ),
    "one of several variables that nil is assigned to": (
        "def best(scores)\n  name, points = scores.max\n  name.upcase\nend\nbest([])\n",
        "nil: name is nil, .upcase of it is called (NoMethodError), in best",
        "name",
        "name written",
    ),
    "a text that is compared": (
        (
            "def take(stock, name, count)\n"
            "  raise ArgumentError, name if stock.fetch(name) < count\nend\n"
            "take({ 'ink' => 1 }, *'ink 2'.split)\n"
        ),
        "ArgumentError: comparison of Integer with String failed: count, in take",
        "count",
        "count passed to take",
    ),
    "a number for a hash": (
        (
            "words = %w[a b a]\nwords.inject({}) do |counts, word|\n"
            "  counts[word] = (counts[word] || 0) + 1\nend\n"
        ),
        "TypeError: no implicit conversion of String into Integer: counts, in block in <main>",
        "counts",
        "counts passed to block",
    ),
    "a reader of a variable that nothing wrote": (
        (
            "class Base\n  attr_reader :items\n  def initialize = @items = []\nend\n"
            "class Cart < Base\n  def initialize(owner)\n    @owner = owner\n  end\n"
            "  def add(x) = items << x\nend\nCart.new('ada').add(3)\n"
        ),
        "nil: items is nil, << of it is called",
        "items",
        "nothing wrote @items, its object has @owner",
    ),
    "a predicate that decides": (
        (
            "def index(rows)\n  rows.each_with_object([]) do |row, all|\n    all += [row]\n  end\n"
            "end\nids = index([1])\nraise 'no ids' if ids.empty?\n"
        ),
        "RuntimeError: no ids",
        "ids",
        "returned by index",
    ),
    "an assignment that an exception left": (
        (
            "def load(path)\n  file = File.open(path)\n  file.read\nensure\n  file.close\nend\n"
            "load('/nonexistent/x')\n"
        ),
        "nil: file is nil, .close of it is called",
        "file",
        "no statement was seen that gave file another value than nil",
    ),
    "a result that is multiplied": (
        (
            "def rate(kind)\n  case kind\n  when :book then 7\n  end\nend\n"
            "def price(net, kind) = net * rate(kind)\nprice(100, 'book')\n"
        ),
        "TypeError: nil can't be coerced into Integer: rate(kind), in price",
        "rate(kind)",
        "kind passed to price",
    ),
}
# What a statement's failed part is called, where nothing of the program's own gave its value.
FAILED_PARTS = {
    "dig": (
        "limits = { 'day' => {} }\nputs limits.dig('day', 'max') + 1\n",
        "nil: limits.dig('day', 'max') returned nil, + of it is called (NoMethodError), in <main>",
    ),
    "find": (
        "users = [{ id: 1 }]\nputs users.find { |u| u[:id] == 2 }[:name]\n",
        (
            "nil: users.find { |u| u[:id] == 2 } returned nil, [] of it is called (NoMethodError), "
            "in <main>"
        ),
    ),
    "a chain of lines": (
        "names = %w[a b]\nnames\n  .uniq!\n  .sort\n",
        "nil: names.uniq! returned nil, .sort of it is called (NoMethodError), in <main>",
    ),
    "match": (
        "text = 'a 1'\nputs text.match(/v(\\d+)/)[1]\n",
        "nil: text.match(/v(\\d+)/) returned nil, [] of it is called (NoMethodError), in <main>",
    ),
    "a block that counts": (
        "rows = [{ paid: false }]\nputs 4 / rows.count { |row| row[:paid] }\n",
        "division by zero: rows.count { |row| row[:paid] } is 0 (ZeroDivisionError), in <main>",
    ),
}


def test_crash_shows_no_other_variable_of_the_environment(cli, tmp_path):
    (tmp_path / "small.rb").write_text("puts ENV['NO_SUCH_NAME'].length\n")
    shown = cli("crash", "--", "ruby", "small.rb", cwd=tmp_path).out
    assert "ENV['NO_SUCH_NAME'] is nil" in shown
    assert "ENV={" not in shown


@pytest.mark.parametrize("program", FAILED_PARTS)
def test_crash_names_the_part_of_a_statement_that_failed(cli, tmp_path, program):
    text, cause = FAILED_PARTS[program]
    (tmp_path / "small.rb").write_text(text)
    found = answer_data(cli("--json", "crash", "--no-why", "--", "ruby", "small.rb", cwd=tmp_path))
    assert found["cause"].startswith(cause)


@pytest.mark.parametrize("program", ONE_LINERS)
def test_crash_names_the_value_of_a_small_bug_and_its_origin(cli, tmp_path, program):
    text, cause, expression, origin = ONE_LINERS[program]
    (tmp_path / "small.rb").write_text(text)
    found = answer_data(cli("--json", "crash", "--", "ruby", "small.rb", cwd=tmp_path))
    assert found["cause"].startswith(cause)
    assert found["why"]["expression"] == expression
    assert origin in found["why"]["text"] + found["why"].get("reason", "")
