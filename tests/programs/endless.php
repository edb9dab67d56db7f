<?php
// Counts until `$running` is set to false, or for 120 seconds.

function count_turns(float $deadline): int
{
    $running = true;
    $counter = 0;
    while ($running && microtime(true) < $deadline) {
        $counter++; // @count
    }
    return $counter;
}

echo "counting\n"; // @start
count_turns(microtime(true) + 120);
echo "done\n"; // @done
