<?php
class Config
{
    private static array $cache = [];

    public static function load(string $name, array $defaults = ['rate' => 5]): array
    {
        static $calls = 0;
        $calls++;
        $key = substr($name, 0, 2);
        if (!isset(self::$cache[$key])) {
            self::$cache[$key] = $defaults + ['name' => $name];
        }
        return self::$cache[$key];
    }
}

class Order
{
    public $items = [];
    public ?float $discount = null;

    public function __construct(public string $customer, private array $options = [])
    {
    }

    public function add(string $name, $count, $price)
    {
        $this->items[] = compact('name', 'count', 'price');
    }

    public function total()
    {
        $sum = 0;
        for ($i = 0; $i < count($this->items) - 1; $i++) {
            $sum += $this->items[$i]['count'] * $this->items[$i]['price'];
        }
        return $this->apply($sum);
    }

    private function apply($sum)
    {
        $factor = $this->options['factor'] ?? 0;
        return $sum * $factor;
    }
}

function strip(array $rows): array
{
    foreach ($rows as $i => &$row) {
        $row = trim($row);
    }
    foreach ($rows as $row) {
    }
    return $rows;
}

function larger($a, $b)
{
    return strcmp($a, $b) > 0 ? $a : $b;
}

function parse(string $line): array
{
    [$name, $count, $price] = explode(';', $line);
    return ['name' => $name, 'count' => $count, 'price' => $price];
}

function fill(array &$target, string $key, $value): void
{
    $target[$key] = $value;
}

$alpha = Config::load('alpha');
$almond = Config::load('almond', ['rate' => 9]);
$rate = $almond['rate'];
echo "rate $rate\n";  // @mark1

$order = new Order('Ann', ['faktor' => 2]);
$order->add('pear', 2, 3);
$order->add('plum', 1, 4);
$total = $order->total();
echo "total $total\n";  // @mark2

$rows = strip([' a', 'b ', ' c ']);
$last = $rows[2];
echo "last $last\n";  // @mark3

$best = larger('9', '10');
echo "best $best\n";  // @mark4

$line = parse('fig;;3');
$count = $line['count'];
echo "count '$count'\n";  // @mark5

$settings = ['a' => 1];
fill($settings, 'limit', null);
$limit = $settings['limit'];
echo "limit ", var_export($limit, true), "\n";  // @mark6

$prices = ['a' => 3, 'b' => 0, 'c' => 5];
$double = array_map(function ($p) { return $p * 2; }, $prices);
$b = $double['b'];
echo "b $b\n";  // @mark7

$a1 = new Order('Bob');
$a2 = $a1;
$a2->customer = '';
$who = $a1->customer;
echo "who '$who'\n";  // @mark8

function adder()
{
    $sum = 10;
    return function ($n) use (&$sum) {
        $sum -= $n;
        return $sum;
    };
}
$add = adder();
$add(4);
$left = $add(9);
echo "left $left\n";  // @mark9

try {
    try {
        intdiv(1, 0);
    } catch (DivisionByZeroError $e) {
        throw new RuntimeException('cannot divide', 7, $e);
    }
} catch (RuntimeException $error) {
    $code = $error->getCode();
    $message = $error->getMessage();
}
echo "$code $message\n";  // @mark10

$names = ['x' => 'Xena', 'y' => null, 'z' => 'Zoe'];
$found = [];
foreach ($names as $id => $name) {
    if ($name == null) {
        $found[$id] = 'nobody';
        continue;
    }
    $found[$id] = strtoupper($name);
}
$y = $found['y'];
echo "y $y\n";  // @mark11

usort($rows, fn($p, $q) => $q <=> $p);
$first = $rows[0];
echo "first $first\n";  // @mark12

final class Basket
{
    public array $lines = [];

    public function prices(): array
    {
        return array_map(fn($line) => $line->price, $this->lines);
    }
}
$basket = new Basket();
$basket->lines[] = (object) ['price' => 40];
$basket->lines[0]->price -= 60;
[$cost] = $basket->prices();
echo "cost $cost\n";  // @mark13

// Of two calls in one statement the inner one passed it, and the operand at fault is a call's result.
final class Weighed
{
    public function __construct(public ?Weighed $inner, public ?int $grams)
    {
    }
}
function byPiece(?Weighed $one, int $factor): ?int
{
    return $one?->grams === null ? null : $one->grams * $factor;
}
$box = new Weighed(new Weighed(null, null), 25);
$label = 'grams: ' . byPiece($box->inner, 2);
echo "$label\n";  // @mark14

// A copy has the fields of the object that it was made of.
final class Tagged
{
    public ?int $size = null;
    public string $tag = '';

    public function __construct(?int $size) { $this->size = $size; }

    public function tagged(string $tag): static { $copy = clone $this; $copy->tag = $tag; return $copy; }
}
$sizes = array_map(fn (?int $size): Tagged => new Tagged($size), [null]);
$tagged = $sizes[0]->tagged('x');
echo "tagged {$tagged->size}\n";  // @mark15
