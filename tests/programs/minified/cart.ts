// What minifiers do to names: one compiled name for several variables, and variables that they remove.
interface Item {
  name: string;
  price: number;
  count: number;
}

let ordersSeen = 0;

class Cart {
  items: Item[] = [];

  addItem(item: Item): number {
    const subtotal = item.price * item.count;
    this.items.push(item);
    return subtotal;
  }

  totalPrice(): number {
    let runningTotal = 0;
    for (const current of this.items) {
      runningTotal += current.price * current.count;
    }
    return runningTotal;
  }
}

function formatPrice(amount: number, currency = 'EUR'): string {
  const rounded = Math.round(amount * 100) / 100;
  return `${rounded} ${currency}`;
}

function readOrders(text: string): Cart {
  const cart = new Cart();
  text.split(';').forEach((entry, position) => {
    const [name, price, count] = entry.split(',');
    ordersSeen += 1;
    if (cart.addItem({ name, price: Number(price), count: Number(count) }) < 0) {
      throw new RangeError(`bad entry ${position}: ${entry}`);
    }
  });
  return cart;
}

const grandTotal = readOrders(process.argv[2] ?? 'pen,1.5,10;book,30,4').totalPrice();
console.log(formatPrice(grandTotal), ordersSeen);
