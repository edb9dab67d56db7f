const { total } = require('./cart');

function check(found, wanted) {
  expect(found).toBe(wanted);
}

describe('cart', () => {
  test('is empty', () => {
    expect(total([])).toBe(0);
  });

  test('adds up', () => {
    const found = total([[300, 2], [450, 1]]);
    check(found, 1050);
  });
});
