<?php
// An error handler makes an exception of each warning, as frameworks do. The argument chooses which.

function fail(string $text, int $kind, string $file, int $line): never
{
    throw new ErrorException($text, 0, $kind, $file, $line);
}

set_error_handler(function ($kind, $text, $file, $line) {
    fail($text, $kind, $file, $line);
});

class Cart
{
    private array $prices = ['pen' => 2];

    public function price(string $key): int
    {
        return $this->prices[$key] * 2; // @price
    }

    public function find(string $key): ?object
    {
        return isset($this->prices[$key]) ? (object) ['name' => $key] : null; // @none
    }
}

function total(array $names): int
{
    $cart = new Cart;
    $sum = 0;
    foreach ($names as $name) {
        $sum += $cart->price($name);
    }
    return $sum;
}

function label(Cart $cart, string $key): string
{
    $found = $cart->find($key);
    return $found->name; // @label
}

if ($argv[1] === 'key') {
    $names = ['pen'];
    $names[] = 'ink'; // @ink
    echo total($names);
} else {
    echo label(new Cart, 'ink');
}
