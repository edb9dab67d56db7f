import { describe, expect, it } from 'vitest';

import { total, type Item } from './cart';

describe('cart', () => {
  it('is empty', () => {
    expect(total([])).toBe(0);
  });

  it('adds up', async () => {
    const items: Item[] = [
      { price: 300, count: 2 },
      { price: 450, count: 1 },
    ];
    const found = total(items);
    expect(found).toBe(1050);
  });
});
