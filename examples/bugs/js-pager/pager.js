// Reads all orders of a shop page by page, and sums them up by customer.
"use strict";

const PAGE = 4;

const orders = [
  { id: 1, customer: "ada", cents: 1200 },
  { id: 2, customer: "bob", cents: 350 },
  { id: 3, customer: "ada", cents: 80 },
  { id: 4, customer: "cyd", cents: 4100 },
  { id: 5, customer: "bob", cents: 990 },
  { id: 6, customer: "dan", cents: 15 },
  { id: 6, customer: "dan", cents: 15, isCopy: true },
  { id: 6, customer: "dan", cents: 15, isCopy: true },
  { id: 6, customer: "dan", cents: 15, isCopy: true },
  { id: 6, customer: "dan", cents: 15, isCopy: true },
  { id: 7, customer: "eve", cents: 640 },
];

class Store {
  constructor(rows) {
    this.rows = [...rows].sort((left, right) => left.id - right.id);
    this.reads = 0;
  }

  // Rows from an id on, as a database gives them that is asked `id >= ? LIMIT ?`.
  page(from, limit) {
    this.reads += 1;
    return this.rows.filter((row) => row.id >= from).slice(0, limit);
  }

  lastId() {
    return this.rows[this.rows.length - 1].id;
  }
}

class Totals {
  constructor() {
    this.byCustomer = new Map();
    this.seen = new Set();
  }

  add(order) {
    if (this.seen.has(order)) return;
    this.seen.add(order);
    const before = this.byCustomer.get(order.customer) ?? 0;
    this.byCustomer.set(order.customer, before + order.cents);
  }
}

function addPage(totals, rows) {
  for (const row of rows) totals.add(row);
  return rows.length ? rows[rows.length - 1].id : 0;
}

function sumUp(store) {
  const totals = new Totals();
  const last = store.lastId();
  let cursor = 0;
  while (cursor < last) {
    const rows = store.page(cursor, PAGE);
    cursor = Math.max(cursor, addPage(totals, rows));
  }
  return totals;
}

function report(totals) {
  for (const [customer, cents] of totals.byCustomer) {
    console.log(`${customer.padEnd(5)} ${(cents / 100).toFixed(2)}`);
  }
}

report(sumUp(new Store(orders)));
