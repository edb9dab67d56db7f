<?php
// A shop with a bug: counts are left out of the total. `php cart.php crash` throws.

class PriceError extends RuntimeException
{
}

class Cart
{
    private array $lines = [];

    public function add(string $name, int $price, int $count = 1): self
    {
        $this->lines[] = [$name, $price, $count];
        return $this;
    }

    public function total(): int
    {
        $sum = 0; // @zero
        foreach ($this->lines as [$name, $price, $count]) {
            $sum += $price; // @sum
        }
        return $sum; // @total
    }

    public function check(): void
    {
        try {
            throw new PriceError('caught'); // @caught
        } catch (PriceError $error) {
        }
        $left = count($this->lines);
        throw new PriceError("no price in $left lines"); // @raise
    }
}

$cart = new Cart();
$cart->add('apple', 3, 2)->add('pear', 5);
if (($argv[1] ?? '') === 'crash') {
    $cart->check();
}
fwrite(STDERR, "total\n");
echo $cart->total(), "\n"; // @print
exit($cart->total() === 11 ? 0 : 3);
