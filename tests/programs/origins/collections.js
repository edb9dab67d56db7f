// Values that are computed from collections, which other code has changed in place.
'use strict';
require('./empty.js'); // a script without statements

class Bag {
  constructor() {
    this.length = 0;
    this.places = new Map();
  }

  add(item) {
    this[this.length] = item;
    this.places.set(item, {
      item,
      at: this.length, // @place
    });
    this.length += 1;
  }

  moveLast(to) {
    const last = this[this.length - 1];
    this[to] = last; // @moved
    this.removeAt(this.length - 1);
  }

  removeAt(at) {
    this[at] = undefined; // @removed
    this.length -= 1;
  }

  remove(item) {
    const place = this.places.get(item);
    this.removeAt(place.at); // @remove
  }
}

const prices = new Map();
function learn(name, price) {
  prices.set(name, price); // @stored
}

function priceOf(name) {
  return prices.get(name.slice(0, 1)); // @lookup
}

function total(rows, { rate = 2 } = {}) {
  return rows.filter((row) => row.isUsed).map((row) => row.price * rate).reduce((a, b) => a + b, 0);
}

function ruleOf(given) {
  const made = {};
  made.left = given.text.split('->')[0]; // @left-side
  return made;
}

function spoil(rows) {
  rows[1].price = NaN; // @spoilt
}

class Cart {
  #rows = [];

  put(row) {
    this.#rows.push(row); // @put
  }

  get first() {
    return this.#rows[0]; // @getter
  }
}

function main() {
  const bag = new Bag();
  for (const one of ['a', 'b', 'c']) bag.add(one);
  bag.moveLast(0);
  bag.remove('b');
  const left = Array.from(bag).join(' ');
  console.log(left); // @left
  learn('p', 1);
  const price = priceOf('pear');
  console.log(price); // @price
  const rows = [{ isUsed: true, price: 1 }, { isUsed: true, price: 2 }];
  spoil(rows);
  const sum = total(rows);
  console.log(sum); // @sum
  const cart = new Cart();
  cart.put('apple');
  console.log(cart.first); // @first
  const [head, ...rest] = [...rows, 'end'];
  console.log(head.price, rest); // @rest
  const rule = ruleOf({ text: 'a -> b' }); // @text
  console.log(rule); // @rule
}

main();
