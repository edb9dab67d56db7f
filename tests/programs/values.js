// Has a value of every sort when it is at the marker.
'use strict';

class Point {
  #secret = 3;

  constructor(x, y) {
    this.x = x;
    this.y = y;
  }

  get sum() {
    return this.x + this.y + this.#secret;
  }
}

function main() {
  const many = Array.from({ length: 100_000 }, (_, i) => i);
  const names = new Map([
    ['one', 1],
    ['two', { deep: [1, 2] }],
  ]);
  const big = new Map(many.map((i) => [i, i * i]));
  const tags = new Set(['a', 'b']);
  const large = 12345678901234567890n;
  const point = new Point(1, 2);
  const nested = { a: 1, 'b c': [1, 2, 3], inner: { deep: { er: true } } };
  const nothing = null;
  const missing = undefined;
  const when = new Date(0);
  const bytes = Buffer.from('hello');
  const long = 'x'.repeat(5000);
  const add = (a, b) => a + b;
  const later = Promise.resolve(5);
  console.log(many.length, names.size, big.size, tags.size, large, point.sum, nested); // @ready
  return [nothing, missing, when, bytes, long, add, later];
}

main();
