<?php
// Takes orders: `php shop.php import FILE`, `report FILE`, `sell FILE` or `close LOCK`.

require __DIR__ . '/src/OrderReader.php';
require __DIR__ . '/src/Stock.php';
require __DIR__ . '/src/Report.php';
require __DIR__ . '/src/Lock.php';

function sell(array $orders, Stock $stock): int
{
    $taken = 0;
    foreach ($orders as $order) {
        if ($stock->has($order['product'], 1)) { // not the order's count
            $stock->take($order['product'], $order['count']); // @take
            $taken++;
        }
    }
    return $taken;
}

function close_day(string $path): void
{
    $day = new Lock($path);
    $day->run(function () use ($path): void {
        $books = new Lock($path); // the same file
        $books->run(fn () => print "closed\n"); // @books
    });
}

[, $command, $file] = $argv;
if ($command === 'close') {
    close_day($file);
    exit(0);
}
$orders = (new OrderReader())->read(file_get_contents($file));
if ($command === 'report') {
    echo implode("\n", format_rows($orders)), "\n";
} elseif ($command === 'sell') {
    echo sell($orders, new Stock(['pear' => 10, 'plum' => 40])), " orders\n";
}
