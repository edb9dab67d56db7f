// Parameters that are passed through several functions, and an exception at the end.
'use strict';

class Rate {
  constructor(percent) {
    this.percent = percent; // @percent
  }

  apply(amount) {
    return amount * this.percent; // @apply
  }
}

function readLimit(text) {
  const limit = Number(text); // @limit
  return limit;
}

function show(total, label) {
  console.log(label, total); // @show
}

function add(order, total) {
  let kept = total; // @kept
  order.total = kept; // @written
  show(kept, 'sum');
}

function run(orders, start) {
  let total = start; // @start
  for (const one of orders) {
    total = total + one; // @added
  }
  add({}, total); // @call
  return total;
}

function pick(order, key) {
  return order[key].price; // @crash
}

function main() {
  const rate = new Rate(3); // @rate
  run([1, 2], 40); // @run
  console.log(rate.apply(2));
  const name = 'missing'; // @name
  pick({ known: { price: 1 } }, name); // @pick
}

main();
