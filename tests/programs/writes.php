<?php
// Writes a local in a recursion, an element of a global, a static property, and by a reference.

function fact($n)
{
    $r = 1; // @begins
    if ($n > 1) {
        $r = $n * fact($n - 1); // @multiplies
    }
    return $r; // @returns
}

function set(&$it)
{
    $it = 9;
}

class Box
{
    public static $n = 1;

    public static function up()
    {
        self::$n++; // @counts
    }
}

function change()
{
    global $g;
    $g['k'] = 7; // @changes
}

$g = ['k' => 1];
change();
Box::up();
fact(3); // @calls
set($found); // @sets
echo $found; // @end
