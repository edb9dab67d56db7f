// Totals of a shop's carts, with vouchers that are worth a part of what is in the cart.
'use strict';

const PRICES = new Map([
  ['tea', 420], ['cup', 1150], ['pot', 3900], ['tin', 760], ['spoon', 290],
]);

class Voucher {
  constructor(code, percent, least) {
    this.code = code;
    this.percent = percent;
    this.least = least;
  }

  worth(total) {
    return total >= this.least ? Math.floor((total * this.percent) / 100) : 0;
  }
}

class Cart {
  constructor(customer) {
    this.customer = customer;
    this.lines = [];
    this.voucher = null;
  }

  put(article, count) {
    const known = this.lines.find((line) => line.article === article);
    if (known) known.count += count;
    else this.lines.push({ article, count });
  }

  total() {
    let total = 0;
    for (const line of this.lines) {
      const price = PRICES.get(line.article);
      const amount = price * line.count;
      total += amount;
    }
    if (this.voucher) total -= this.voucher.worth(total);
    return total;
  }
}

// A small generator, so that every run has the same customers.
function chooser(seed) {
  let state = seed;
  return (most) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state % most;
  };
}

function filled(customer, choose) {
  const cart = new Cart(customer);
  const articles = [...PRICES.keys()];
  const lines = 1 + choose(4);
  for (let at = 0; at < lines; at++) {
    cart.put(articles[choose(articles.length)], 1 + choose(3));
  }
  if (customer === 83) cart.put('Tin', 2);
  if (choose(5) === 0) cart.voucher = new Voucher('SPRING', 10, 2000);
  return cart;
}

function report(carts) {
  const turnover = carts.reduce((sum, cart) => sum + cart.total(), 0);
  const highest = carts.reduce((most, cart) => Math.max(most, cart.total()), 0);
  const vouchers = carts.filter((cart) => cart.voucher).length;
  return { carts: carts.length, turnover, highest, vouchers };
}

function main() {
  const choose = chooser(7);
  const carts = [];
  for (let customer = 1; customer <= 120; customer++) carts.push(filled(customer, choose));
  const found = report(carts);
  console.log(`${found.carts} carts, ${found.vouchers} with a voucher`);
  console.log(`turnover ${(found.turnover / 100).toFixed(2)}, highest ${(found.highest / 100).toFixed(2)}`);
}

main();
