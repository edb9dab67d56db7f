<?php
// Exceptions that a callee throws, and a caller or nobody catches.
function parse(string $text): int {
    if (!is_numeric($text)) { throw new InvalidArgumentException("bad $text"); }
    return (int)$text;
}

function safe(string $text): int {
    try {
        return parse($text);
    } catch (InvalidArgumentException $error) {
        return -1;
    }
}

function total(array $words): int {
    $sum = 0;
    foreach ($words as $one) { $sum += safe($one); }
    if ($sum > 1000) { throw new RuntimeException("too big"); } // @too_big
    return $sum;
}

echo total(['1', 'x', '4']), "\n";
try {
    echo total(['900', '900']), "\n";
} catch (RuntimeException $error) {
    echo $error->getMessage(), "\n";
}
total(['2000']);
