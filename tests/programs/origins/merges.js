'use strict';
const defaults = { rate: 3, mode: 'slow', nest: { deep: [1, 5] } };
const given = { mode: 'fast', size: 0 };

function merge(first, second) {
  const spread = { ...first, ...second };
  const assigned = Object.assign({ rate: 0 }, first, second);
  const list = [...[1, 2], 7, ...second.items, 9];
  return { spread, assigned, list };
}

function bytes() {
  const found = new Uint8Array(4);
  found[2] = 300;
  return found;
}

async function later(value) {
  await null;
  return value;
}

async function main() {
  const { spread, assigned, list } = merge(defaults, { ...given, items: [4, 6] });
  const copy = structuredClone(defaults);
  const parsed = JSON.parse(JSON.stringify(defaults));
  defaults.nest.deep[1] = 8;
  const packed = bytes();
  const [, awaited] = await Promise.all([later(1), later(given.size)]);
  const both = await Promise.all([later(2), later(spread.rate)]);
  const month = /(\d+)-(\d+)/.exec('12-34')[2];
  const handed = hand(later, 3, given.size, 11);
  console.log(assigned, list, copy, parsed, packed, awaited, both, month, handed);
}

function hand(run, ...words) {
  return sum(...words);
}

function sum(first, second, third) {
  return third;
}

main();
