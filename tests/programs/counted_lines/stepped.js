class Cart {
  #items = [];
  static of(...prices) {
    const cart = new Cart();
    for (const one of prices) cart.#add(one);
    return cart;
  }
  #add(price) {
    check(price);
    return this.#items.push(price);
  }
  get total() {
    let sum = 0;
    for (const one of this.#items) sum += one;
    return sum;
  }
}
class Gift extends Cart {
  constructor(name) {
    super();
    this.name = name;
  }
}
function check(price) {
  if (price < 0) throw new RangeError('negative');
  return price;
}
const helpers = {
  round(value) {
    return Math.round(value);
  },
  half: (value) => value / 2,
};
async function later(value) {
  const first = await Promise.resolve(value + 1);
  return first * 2;
}
function* walk(n) {
  yield n;
}
async function main() {
  console.log(Cart.of(1, 2).total, helpers.round(2.4), helpers.half(3), [...walk(1)]);
  new Gift('g');
  try { check(-1); } catch {}
  await later(5);
}
main().then(() => check(-2));
function lasts(n) {
  try {
    if (n > 1) return n;
  } finally {
    n += 1;
  }
}
lasts(3);
lasts(0);
