<?php
// Reads orders from lines like `pear;3;250`: a product, how many, and the price in cents.

class OrderError extends RuntimeException
{
}

class OrderReader
{
    /** @return list<array{product: string, count: int, cents: int}> */
    public function read(string $text): array
    {
        $orders = [];
        foreach (explode("\n", trim($text)) as $number => $line) {
            try {
                $orders[] = $this->parse($line);
            } catch (ValueError $error) {
                throw new OrderError('bad order in line ' . ($number + 1), 0, $error); // @wrapped
            }
        }
        return $orders;
    }

    private function parse(string $line): array
    {
        [$product, $count, $cents] = explode(';', $line);
        if (!is_numeric($count)) {
            throw new ValueError("not a count: '$count'"); // @thrown
        }
        return ['product' => $product, 'count' => (int) $count, 'cents' => (int) $cents];
    }
}
