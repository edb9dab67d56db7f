<?php
// Values of many shapes and sizes, all of them locals at the marker.

enum Suit: string
{
    case Hearts = 'H';
}

class Item
{
    protected string $name;
    private ?float $weight = null;

    public function __construct(public readonly int $number)
    {
        $this->name = "item $number";
    }
}

function main(): void
{
    $items = array_map(fn (int $number) => new Item($number), range(0, 199));
    $nested = ['user' => ['name' => 'ada', 'tags' => ['x', 'y']], 7 => [1, 2]];
    $many = range(0, 99999);
    $big = str_repeat('x', 1000000);
    $suit = Suit::Hearts;
    $double = fn (int $number) => $number * 2;
    $text = "tab\tquote' snowman \u{2603}";
    $nothing = null;
    $whole = 2.0;
    $empty = [];
    echo count($items), count($many), strlen($big), "\n"; // @ready
}

main();
