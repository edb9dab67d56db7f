#!/usr/bin/env php
<?php
declare(strict_types=1);

namespace Shop;

use InvalidArgumentException as Bad;
use function strlen as length;

#[\Attribute]
final class Mark
{
}

enum Size: string
{
    case Big = 'b';

    public function text(): string
    {
        return match ($this) {
            self::Big => 'big',
        };
    }
}

trait Named
{
    public function name(): string
    {
        return static::class;
    }
}

abstract class Base
{
    abstract public function area(): float;

    public static function make(float ...$sides): static
    {
        return new static(...$sides);
    }
}

final class Box extends Base
{
    use Named;

    public function __construct(private float $a = 1, private float $b = 1)
    {
    }

    public function area(): float
    {
        return $this->a * $this->b;
    }
}

function numbers(): iterable
{
    foreach ([1, 2] as $n) yield $n => $n * 2;
    return 7;
}

function &place(array &$all)
{
    return $all['x'];
}

function nothing(): void
{
    if (true) return;
    echo 'never';
}

$all = ['x' => 1];
$one = &place($all);
$one = 5;
if ($all['x'] === 5): echo "five\n"; else: echo "other\n"; endif;
for ($i = 0; $i < 2; $i++)
    if ($i) echo "$i\n"; else echo "-\n";
$i = 3;
do $i--; while ($i > 1);
while ($i < 3): $i++; endwhile;
switch (Size::Big) {
    case Size::Big:
        echo Size::Big->text(), "\n";
        break;
    default:
}
try {
    throw new Bad('bad');
} catch (Bad | \LengthException $error) {
    echo $error->getMessage(), "\n";
} finally {
    nothing();
}
[$first, ['k' => $second]] = [1, ['k' => 2]];
echo "{$all['x']} ({$first}) [$second] ", <<<TEXT
    heredoc {$all['x']} ;
    TEXT, "\n";
echo basename(__FILE__), ':', __LINE__, ' ', __DIR__ === dirname(__FILE__) ? 'same' : 'other', "\n";
$made = new class extends Base {
    public function area(): float { return 2; }
};
echo $made->area(), ' ', Box::make(2, 3)->area(), ' ', (new Box())->name(), "\n";
$twice = fn(int $n): int => $n * 2;
$sum = static function (int ...$all) use ($twice): int { return array_sum(array_map($twice, $all)); };
echo $sum(1, 2), ' ', length('abc'), ' ', implode(',', iterator_to_array(numbers())), "\n";
$n = 0;
again:
$n++;
if ($n < 3) goto again;
static $kept = ['a' => [1, 2]];
foreach ($kept as $key => ['0' => $zero]) { echo "$key $zero $n\n"; }
file_put_contents('php://stdout', json_encode(['n' => $n ?: null, 'm' => $missing ?? 'none']) . "\n");
echo $argc, ' ', count($argv), ' ', get_debug_type($GLOBALS['all']), "\n";
?>
text <?= $n ?> and <?php if ($n > 2): ?>more<?php else: ?>less<?php endif ?>

