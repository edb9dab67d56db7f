// Adds up a basket: TypeScript, run as what `tsc` made of it.
declare const process: { exitCode: number };
declare const console: { log(...values: unknown[]): void };

interface Item {
  name: string;
  price: number;
  count?: number;
}

class Basket {
  private readonly items: Item[] = [];

  add(item: Item): this {
    this.items.push(item);
    return this;
  }

  total(discount: number = 0): number {
    let sum = 0;
    for (const item of this.items) {
      const cost = item.price * (item.count ?? 1); // @cost
      sum += cost;
    }
    return sum - discount; // @sum
  }
}

async function later<T>(value: T): Promise<T> {
  await null;
  return value; // @later
}

async function main(): Promise<number> {
  const basket = new Basket().add({ name: "apple", price: 3, count: 2 }).add({ name: "pear", price: 4 });
  const total = await later(basket.total(1));
  console.log(`total ${total}`); // @print
  return total;
}

main().then((total) => {
  process.exitCode = total > 5 ? 3 : 0;
});
