// One test fails because two statements drop a promise; what else drops one has a reason.
'use strict';

const { describe, test } = require('node:test');
const assert = require('node:assert');

const stored = new Map();
async function save(key, value) {
  await new Promise((done) => setTimeout(done, 1));
  stored.set(key, value);
}
async function saveBoth() {
  const first = save('first', 1);
  const second = save('second', 2);
  first;
  second;
  await first;
}

describe('a store', () => {
  test('keeps', async () => {
    await saveBoth();
    void save('beside', 3);
    save('careless', 4).catch(() => {});
    const later = save('later', 5);
    const both = Promise.all([later, save('also', 6)]);
    later;
    await both;
    Promise.resolve(7);
    stored.has('last') || save('last', 8);
    assert.equal(stored.get('last'), 8);
  });
});
