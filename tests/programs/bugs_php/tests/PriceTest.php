<?php
require_once __DIR__ . '/../src/Price.php';

class PriceTest extends PHPUnit\Framework\TestCase
{
    public function testOfOne(): void
    {
        $this->assertSame(250, Price::of(250, '1'));
    }

    public function testManyAreCheaper(): void
    {
        $count = '12';
        $cents = Price::of(100, $count);
        $this->assertSame(1080, $cents); // @fails
    }
}
