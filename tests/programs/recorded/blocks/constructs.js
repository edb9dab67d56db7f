// What JavaScript has of functions and blocks; each is counted by us as by V8.
'use strict';
class Box {
  static made = 0;

  size = 1;

  #inner = () => this.size;

  constructor(size) { this.size = size; Box.made += 1; }

  get twice() { return this.size * 2; }

  set twice(value) { this.size = value / 2; }

  static of(size) { return size > 0 ? new Box(size) : null; }

  static async later(size) { await null; return Box.of(size); }

  *sizes() { for (let at = 0; at < this.size; at++) yield at; }

  ['read' + 1]() { return this.#inner(); }
}
const plain = { method() { return 1; }, get got() { return 2; }, named: function () { return 3; }, arrow: (a) => a };
plain.assigned = function () { return 4; };
const nested = (a) => (b) => ({ sum: a + b });
const chosen = Box.made ? function () { return 1; } : () => 2;

function flow(n, { step = n > 2 ? 2 : 1 } = {}) {
  let sum = 0;
  if (n > 3) { sum--; } else if (n > 2) sum++; else { sum += 0; }
  for (let i = 0; i < n; i += step) { if (i === 1) continue; sum += i; }
  for (const k of [1, 2]) sum += k;
  for (const key in { a: 1 }) sum += key.length;
  while (sum > 90) sum--
  do { sum--; } while (sum > 0);
  switch (n) { case 0: sum = 1; break; case 1: sum = 2; default: sum = 3; }
  outer: for (const a of [1, 2]) { for (const b of [1, 2]) { if (b === n) continue outer; if (a > b) break outer; } }
  try { if (n === 4) throw new Error('four'); sum = 4; } catch { sum = 5; } finally { sum += 6; }
  const some = (n ? 1 : 2) + (n && 3) + (n || 4) + (n /* ?? */ ?? 5);
  { if (n === 2) { return some; } }
  return some
    ? sum
    : 0;
}

async function waits(n) {
  for (let i = 0; i < n; i++) { await null; for (let j = 0; j < 2; j++) flow(j); }
  for await (const one of [1, 2]) if (one === 2) return n;
  return 0;
}

function* counts() { const got = yield 1; if (got) yield 2; }

for (const n of [0, 1, 2, 3, 4, 4]) flow(n);
flow(5, { step: 1 });
const box = new Box(2);
box.twice = box.twice;
[Box.of(0), box.read1(), ...box.sizes(), ...counts(), chosen(), nested(1)(2), plain.method(), plain.got];
plain.named(); plain.arrow(); plain.assigned();
Box.later(3); waits(2).then((n) => n);
const table = [3, 1, 2].sort((a, b) => a - b).map((one) => `${(() => one)()}`);
if (table.length === 3) { let rest = 3; while (rest) if (rest-- === 2) break; }
