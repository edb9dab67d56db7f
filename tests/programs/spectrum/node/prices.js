"use strict";

function total(prices) {
  let sum = 0;
  for (const price of prices) sum += price;
  if (prices.length > 2) {
    sum = discounted(sum);
  }
  return sum;
}

function discounted(sum) {
  const percent = 20;
  return sum - (sum * percent) / 100;
}

module.exports = { total };
