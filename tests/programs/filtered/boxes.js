class Box {
  constructor() { this.n = 0; this.total = 0; }
}
function add(b, v) {
  b.total += v;
  b.n++;
}
function twice(b, v) {
  add(b, v);
  add(b, v);
}
function mark(i) {
  return i;
}
function main() {
  const step = Number(process.argv[2] || 1);
  const b = new Box();
  for (let i = 0; i < 6; i++) {
    if (i % 2) twice(b, i * step);
    else add(b, i * step);
    if (i === 3) mark(i);
  }
  console.log(b.n, b.total);
}
main();
