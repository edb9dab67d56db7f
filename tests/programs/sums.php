<?php
// Moves accounts through deposits and ends with status 3.

class Account
{
    public function __construct(public string $owner, public int $balance = 0)
    {
    }

    public function deposit(int $amount): void
    {
        $this->balance += $amount; // @deposit
    }
}

function calculate(int $i): int
{
    $square = $i * $i;
    echo "step $i\n"; // @step
    return $square; // @return
}

function sum_to(int $n, Account $account): int
{
    $total = 0; // @start
    for ($i = 1; $i <= $n; $i++) {
        $total += calculate($i); // @add
        $account->deposit($i);
    }
    return $total; // @done
}

$account = new Account('ada', 100); // @main
$total = sum_to((int) ($argv[1] ?? 5), $account); // @call
echo "sum $total, {$account->owner} has {$account->balance}\n"; // @print
exit(3); // @exit
