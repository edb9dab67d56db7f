function work(i, k) {
  const total = i * k;
  return total;
}
let sum = 0;
for (let i = 0; i < 5; i++) {
  sum += work(i, 3);
}
console.log(sum);
