// Takes orders through their stages; each stage is asynchronous, as if it asked a service.
'use strict';

const CUSTOMERS = new Map([
  [1, { name: 'Ada', addresses: [{ kind: 'billing', city: 'London' }, { kind: 'shipping', city: 'Bath' }] }],
  [2, { name: 'Grace', addresses: [{ kind: 'billing', city: 'New York' }] }],
]);

const PRICES = { pen: 2, ink: 7, desk: 240 };

const later = (value) => new Promise((resolve) => setImmediate(() => resolve(value)));

async function loadCustomer(id) {
  return later(CUSTOMERS.get(id));
}

async function priced(order) {
  const lines = await Promise.all(
    order.items.map(async ({ sku, count }) => later({ sku, count, amount: PRICES[sku] * count })),
  );
  return { ...order, lines, amount: lines.reduce((sum, line) => sum + line.amount, 0) };
}

function shippingAddress(customer) {
  return customer.addresses.find((address) => address.kind === 'shipping');
}

async function routed(order, customer) {
  const address = shippingAddress(customer);
  const depot = await later(order.amount > 100 ? 'north' : 'south');
  return { ...order, depot, label: `${customer.name}, ${address.city}` };
}

async function process_(order) {
  const customer = await loadCustomer(order.customer);
  const withPrices = await priced(order);
  return routed(withPrices, customer);
}

async function main() {
  const orders = [
    { id: 71, customer: 1, items: [{ sku: 'pen', count: 10 }] },
    { id: 72, customer: 1, items: [{ sku: 'desk', count: 1 }, { sku: 'ink', count: 2 }] },
    { id: 73, customer: 2, items: [{ sku: 'ink', count: 1 }] },
  ];
  for (const order of orders) {
    const done = await process_(order);
    console.log(`order ${done.id}: ${done.amount} by ${done.depot} to ${done.label}`);
  }
}

main();
