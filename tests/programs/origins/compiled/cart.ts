// A total that becomes NaN by a coupon without a number; compiled by tsc, and minified by esbuild.
interface Item { price: number; count: number }

class Cart {
  private items: Item[] = [];
  discount: number = 0;

  add(item: Item): this {
    this.items.push(item);
    return this;
  }

  total(): number {
    let sum: number = 0;
    for (const item of this.items) sum += item.price * item.count;
    return sum - this.discount;
  }
}

function redeem(basket: Cart, coupon: string): void {
  const amount = parseInt(coupon.slice(1), 10);
  basket.discount = amount;
}

function checkout(coupons: string[]): number {
  const basket = new Cart().add({ price: 10, count: 2 });
  for (const coupon of coupons) redeem(basket, coupon);
  const due = basket.total();
  if (Number.isNaN(due)) throw new Error('bad total');
  return due;
}

checkout(['C5', 'X']);
