// Values that defaults, generators and a library's own calls gave.
const EventEmitter = require('events');
function inner({ a, b: { c = 7 } = {} }) { return c; }
function outer({ a = 1, b: { c, d = 4 } = { c: 9 } } = {}) { return c; }
function later(n, m = n * 2) { return m; }
function* pairs(n) { for (let i = 0; i < n; i++) yield [i, i + 40]; }
async function* slow(n) { for (let i = 0; i < n; i++) { await null; yield n + 10; } }
function parsed(text) { return JSON.parse(text).user.age; }
function tagged(n) { return String.raw`v${n}`; }
async function main() {
  const n = 'another n';
  const fromInner = inner({ a: 1 });
  const fromOuter = outer();
  const fromLater = later(6);
  const options = { size: 2 };
  const { x: { y = 5 } = {}, z = options.size } = options;
  let pair = 0;
  for (const [, v] of pairs(3)) pair = v;
  let step = 0;
  for await (const one of slow(3)) step = one;
  const behind = later(1, 8);
  const age = parsed('{"user": {"age": 41}}');
  const text = tagged(3);
  const emitter = new EventEmitter();
  let seen = 0;
  emitter.on('x', (value) => { seen = value; });
  emitter.emit('x', 21);
  const proxied = new Proxy({ k: 1 }, { get: () => 14 }).k;
  return [fromInner, fromOuter, fromLater, y, z, pair, step, behind, age, text, seen, proxied, n];
}
main();
