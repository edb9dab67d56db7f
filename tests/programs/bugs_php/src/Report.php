<?php
// Sums orders by product. The bug is PHP's own: `$row` is still a reference after the first loop.

function format_rows(array $rows): array
{
    foreach ($rows as &$row) {
        $row['total'] = $row['count'] * $row['cents'];
    }
    $lines = [];
    foreach ($rows as $row) {
        $lines[] = "{$row['product']}: {$row['total']}"; // @line
    }
    return $lines;
}
