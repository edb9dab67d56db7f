// Throws two errors that it catches, and ends well.
'use strict';

class OrderError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'OrderError';
  }
}

function check(order) {
  if (order.items.length === 0) {
    throw new OrderError(`order ${order.id} has no items`); // @throw
  }
  return order.items.length;
}

function main() {
  try {
    check({ id: 3, items: [] });
  } catch (error) {
    console.log(`caught ${error.message}`); // @caught
  }
}

main();
