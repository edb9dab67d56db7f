<?php
// Prices with a discount for many pieces.

class Price
{
    public static function of(int $cents, string $count): int
    {
        $total = $cents * (int) $count;
        if ($count > 'ten') { // a text is compared with a text
            return (int) ($total * 0.9);
        }
        return $total; // @total
    }
}
