// Ends by an error that nobody catches, which another caused.
'use strict';

const prices = { apple: 3, pear: 4 };

function priceOf(name) {
  const price = prices[name];
  if (price === undefined) throw new RangeError(`no ${name} here`); // @inner
  return price;
}

function total(names) {
  let amount = 0;
  for (const name of names) {
    try {
      amount += priceOf(name);
    } catch (error) {
      throw new TypeError(`no price for ${name}`, { cause: error }); // @outer
    }
  }
  return amount;
}

if (process.argv[2] === 'later') {
  (async () => {
    await null;
    total(['quince']); // @later
  })();
} else {
  console.log(total(['apple', 'pear']));
  total(['quince']); // @fails
}
