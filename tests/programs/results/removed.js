// Fails in the way that its argument names: something was taken out of a collection, was asked for
// by a wrong key, or a method got another `this` than its object.
const load = async (key) => {
  if (key === 2) return undefined; // @promises
  return { v: key };
};

class Shelf {
  constructor() {
    this.items = [{ n: 1 }, { n: 2 }];
    this.names = new Map([["a", { n: 1 }], ["b", { n: 2 }]]);
  }
  close() {
    this.names.clear(); // @cleared
    this.items.length = 0; // @shortened
  }
  total() {
    return this.items.length;
  }
  watch() {
    setTimeout(this.total, 1); // @timer
  }
}

const bugs = {
  cleared(shelf) {
    shelf.close();
    return shelf.names.get("a").n;
  },
  shortened(shelf) {
    shelf.close();
    return shelf.items.at(-1).n;
  },
  deleted({ names }) {
    names.delete("b"); // @deleted
    names.delete("c");
    return ["a", "b"].map((key) => names.get(key).n);
  },
  popped({ items }) {
    items.pop();
    items.pop(); // @popped
    items.pop();
    return items.pop().n;
  },
  shifted({ items }) {
    let sum = 0;
    for (let turn = 0; turn < 3; turn++) {
      sum += items.shift().n; // @shifted
    }
    return sum;
  },
  spliced({ items }) {
    items.splice(0, 2); // @spliced
    return items[0].n;
  },
  reduced({ items }) {
    items.splice(0); // @reduced
    return items.reduce((sum, one) => sum + one.n);
  },
  yielded() {
    function* each() {
      yield { n: 1 }; // @yielded
    }
    const turns = each();
    turns.next();
    return turns.next().value.n;
  },
  index({ items }) {
    const last = items.length; // @index
    return items[last].n;
  },
  key({ names }) {
    const prices = { a: { n: 1 } };
    const key = [...names.keys()].at(-1); // @key
    return prices[key].n;
  },
  plain(shelf) {
    const total = shelf.total;
    return total(); // @plain
  },
  callback(shelf) {
    return [1].map(shelf.total); // @callback
  },
  timer(shelf) {
    shelf.watch();
  },
  inline() {
    const counter = { rows: [1], count() { return this.rows.length; } };
    return [1].map(counter.count); // @inline
  },
  async promises() {
    const found = await Promise.all([1, 2].map(load));
    return found.map((one) => one.v);
  },
  async element() {
    const found = await Promise.all([1, 2].map((key) => load(key)));
    return found[1].v;
  },
  async pattern() {
    const [first, second] = await Promise.all([1, 2].map(load));
    return first.v + second.v;
  },
  date() {
    const text = "31/12/2020"; // @date
    const day = new Date(text);
    return day.toISOString();
  },
  text() {
    const text = '{"a": 1,}'; // @text
    return JSON.parse(text).a;
  },
  iterable() {
    const pairs = { a: 1 }; // @iterable
    for (const [key, value] of pairs) return key + value;
  },
  nested() {
    const row = { user: null }; // @nested
    const { user: { name } } = row;
    return name;
  },
  counted() {
    const width = -1; // @counted
    return " ".repeat(width);
  },
  mixed() {
    let total = 1n;
    const more = 2; // @mixed
    total += more;
  },
  unnamed() {
    const action = "log"; // @unnamed
    return [1].map(action);
  },
  frozen() {
    const items = Object.freeze([1]); // @frozen
    const one = 2;
    items.push(one);
  },
  extended() {
    const Base = undefined; // @extended
    class Derived extends Base {}
    return new Derived();
  },
};

const result = bugs[process.argv[2]](new Shelf());
result?.catch?.((error) => setTimeout(() => { throw error; }));
