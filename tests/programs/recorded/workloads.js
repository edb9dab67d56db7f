// Kinds of programs whose recordings cost differently; each runs about half a second alone.
function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

function loops(n) {
  let total = 0;
  for (let i = 0; i < n; i++) {
    const square = (i * i) | 0;
    if (square % 7 === 3) total += square;
    else total -= i;
  }
  return total;
}

class Point {
  constructor(x, y) {
    this.x = x;
    this.y = y;
  }

  add(other) {
    return new Point(this.x + other.x, this.y + other.y);
  }
}

function allocate(n) {
  let point = new Point(0, 0);
  const step = new Point(1, 2);
  const kept = [];
  for (let i = 0; i < n; i++) {
    point = point.add(step);
    if (i % 10 === 0) kept.push({ i, point });
  }
  return kept.length;
}

function classify(word) {
  if (/^\d+$/.test(word)) return 'number';
  if (word[0] === word[0].toUpperCase()) return 'name';
  return 'word';
}

function parse(n) {
  const counts = new Map();
  for (let i = 0; i < n; i++) {
    for (const word of 'The quick brown 123 fox jumps Over 45 lazy dogs now'.split(' ')) {
      const kind = classify(word);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
  }
  return counts.size;
}

// A module of Node itself, in JavaScript.
function library(n) {
  const { inspect } = require('util');
  let length = 0;
  for (let i = 0; i < n; i++) length += inspect({ i, list: [1, 2, { three: 'x' }] }).length;
  return length;
}

const KINDS = {
  recursion: [fib, 38],
  loops: [loops, 100000000],
  objects: [allocate, 15000000],
  parser: [parse, 500000],
  library: [library, 80000],
};
const [run, size] = KINDS[process.argv[2]];
console.log(run(size));
