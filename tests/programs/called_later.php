<?php
// Closures that are called by a value, or by PHP itself. The argument chooses which.

class Cart
{
    public $rule;

    public function __construct()
    {
        $this->rule = function ($n) {
            return intdiv(10, $n);
        };
    }

    public function price($k)
    {
        return ($this->rule)($k);
    }
}

$cart = new Cart;
$zero = strlen(''); // @zero
$all = [3, 5];
$all[] = $zero;
if ($argv[1] === 'property') {
    $cart->price($zero);
} elseif ($argv[1] === 'map') {
    array_map($cart->rule, $all);
} elseif ($argv[1] === 'sort') {
    usort($all, fn($one, $n) => intdiv(10, $n) - intdiv(10, $one));
} else {
    array_reduce($all, fn($sum, $n) => $sum + intdiv(10, $n), 0);
}
