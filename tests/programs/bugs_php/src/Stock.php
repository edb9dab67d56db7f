<?php
// What is in store. Orders are checked against the count before another order is taken.

class Stock
{
    /** @param array<string, int> $counts */
    public function __construct(private array $counts)
    {
    }

    public function take(string $product, int $count): void
    {
        $left = $this->counts[$product] - $count;
        $this->counts[$product] = $left; // @left
    }

    public function has(string $product, int $count): bool
    {
        return $this->counts[$product] >= $count;
    }
}
