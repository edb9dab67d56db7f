// Fails in the way that its argument names, at a pattern that cannot take its value apart, or at a
// part of what a call or `new` gave.
const { EventEmitter } = require("events");

const load = async (key) => {
  if (key === 2) return undefined; // @settled
  return { v: key };
};

function label({ id, user: { name } }) {
  return `${id}: ${name}`;
}

function connect({ host = "local", auth: { user } = {} } = {}) {
  return `${user}@${host}`;
}

class Reader {
  constructor(text) {
    this.lines = text ? text.split("\n") : undefined; // @made
  }
}

function rows() {
  const found = [{ cell: { n: 1 } }];
  found.push({ cell: null }); // @called
  return found;
}

function each(list, call) {
  for (const one of list) call(one);
}

async function show({ user: { name } }) {
  return name;
}

const sizes = ({ kids }) => kids.map(({ meta: { size }, ...rest }) => size + sizes(rest).length);

const bugs = {
  given() {
    const users = [{ id: 1, user: { name: "a" } }];
    users.push({ id: 2, user: null }); // @given
    return users.map((one) => label(one));
  },
  defaulted() {
    const options = { host: "h" };
    connect(options);
    options.auth = null; // @defaulted
    return connect(options);
  },
  mapped() {
    const all = [{ at: { city: "A" } }, { at: { city: "B" } }];
    all[1].at = undefined; // @mapped
    return all.map(({ at: { city } }) => city);
  },
  reduced() {
    const orders = [
      { item: { price: 2 }, count: 3 },
      { count: 1 }, // @reduced
    ];
    return orders.reduce((sum, { item: { price }, count }) => sum + price * count, 0);
  },
  listed() {
    const settings = { a: { on: true } };
    settings.b = undefined; // @listed
    Object.entries(settings).forEach(([key, { on }]) => `${key} ${on}`);
  },
  looped() {
    const list = [{ a: { b: 1 } }, { a: { b: 2 } }];
    list[1].a = null; // @looped
    let total = 0;
    for (const { a: { b } } of list) total += b;
    return total;
  },
  called() {
    const [, { cell: { n } }] = rows();
    return n;
  },
  part() {
    let sum = 0;
    for (let at = 0; at < 2; at++) sum += rows()[at].cell.n;
    return sum;
  },
  nested() {
    const inner = [{ meta: { size: 1 }, kids: [] }, { meta: null, kids: [] }]; // @nested
    return sizes({ kids: [{ meta: { size: 2 }, kids: [] }, { meta: { size: 3 }, kids: inner }] });
  },
  handed() {
    const list = [{ at: { x: 1 } }];
    list.push({ at: null }); // @handed
    each(list, ({ at: { x } }) => x);
  },
  emitted() {
    const bus = new EventEmitter();
    bus.on("move", ({ to: { x } }) => x);
    bus.emit("move", {}); // @emitted
  },
  assigned() {
    let cell;
    ({ 0: { cell: { n: cell } } } = rows());
    ({ 1: { cell: { n: cell } } } = rows());
    return cell;
  },
  async awaited() {
    const users = [{ user: { name: "a" } }, { user: null }]; // @awaited
    for (const one of users) await show(one);
  },
  made() {
    return new Reader("").lines.length;
  },
  async settled() {
    const all = await Promise.all([1, 2].map((key) => load(key)));
    return all.reduce((sum, { v }) => sum + v, 0);
  },
};

const result = bugs[process.argv[2]]();
result?.catch?.((error) => setTimeout(() => { throw error; }));
