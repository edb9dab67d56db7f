function leaf(n) {
  const half = Math.floor(n / 3);
  return half;
}
function low(n) {
  return leaf(n);
}
function high(n) {
  return leaf(n + 10);
}
function main() {
  let total = 0, mark = 0;
  for (let n = 0; n < 12; n++) {
    total += low(n);
    if (n === 4)
      mark = 1;
    if (n % 2)
      total += high(n);
  }
  console.log(total, mark);
}
main();
