// Moves accounts through deposits and ends with status 3.
'use strict';

class Account {
  constructor(owner, balance = 0) {
    this.owner = owner;
    this.balance = balance;
  }

  deposit(amount) {
    this.balance += amount; // @deposit
    return this.balance;
  }
}

function calculate(i) {
  const square = i * i;
  console.log(`step ${i}`); // @step
  return square; // @return
}

function sumTo(n, account) {
  let total = 0; // @start
  for (let i = 1; i <= n; i++) {
    total += calculate(i); // @add
    account.deposit(i);
  }
  return total; // @done
}

function main() {
  const n = process.argv.length > 2 ? Number(process.argv[2]) : 5;
  const scale = 1;
  const account = new Account('ada', 100); // @main
  const total = sumTo(n, account); // @call
  console.log(`sum ${total * scale}, ${account.owner} has ${account.balance}`); // @print
  return 3;
}

process.exitCode = main(); // @exit
