const test = require('node:test');
const assert = require('node:assert');
function total(list, extra) {
  let sum = extra;
  for (const one of list) {
    sum += one;
  }
  return sum;
}
test('adds', () => {
  const got = total([1, 2], 4);
  assert.strictEqual(got, 3);
});
