// A line that many tests pass, and in the test that fails more than once.
'use strict';

const test = require('node:test');
const assert = require('node:assert');

const twice = (n) => (n === 3 ? 7 : 2 * n);
const rows = [
  ['first', [0], [0]],
  ['then "that" (fails)', [1, 2, 3, 4], [2, 4, 6, 8]],
  ['last', [7], [14]],
];
for (const [name, given, results] of rows) {
  test(name, () => {
    given.forEach((n, at) => {
      const expected = results[at];
      assert.equal(twice(n), expected);
    });
  });
}
