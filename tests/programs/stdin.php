<?php
// Echoes its input in upper case, line by line, until the end of the input.

$count = 0;
echo "ready\n";
while (($line = fgets(STDIN)) !== false) {
    $count++;
    echo strtoupper($line); // @read
}
echo "$count lines\n"; // @eof
