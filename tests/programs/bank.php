<?php
// A bank whose fee overdraws an account, called from another class than the one that looks.

class Account {
    public int $balance;
    public function __construct(int $b) { $this->balance = $b; }
    public function deposit(int $n): void {
        $this->balance += $n; // @deposit
    }
    public function fee(): void {
        $this->balance -= 30; // @fee
    }
}
class Bank {
    private Account $acc;
    public function __construct() { $this->acc = new Account(50); }
    public function day(int $n): void {
        $this->acc->deposit($n);
        $this->acc->fee();
    }
    public function check(): void {
        $x = $this->acc->balance; // @look
        echo $x, "\n";
    }
    public function run(): void {
        foreach ([20, 10, 5] as $n) {
            $this->day($n);
            $this->check();
        }
    }
}
(new Bank())->run();
