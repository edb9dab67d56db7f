// A variable that a module exports, and its importer sets by a function.
export let rate = 2;

export function setRate(to) {
  rate = to;
}

export const priceOf = (row) => row.price * rate;
