function score(x) {
  let total = 0;
  for (let i = 0; i < 5; i++) {
    if (x % 7 === 3) total += i;
    else total -= 1;
  }
  return total;
}
function odd(x) { return x * 2; }
let all = 0;
const n = Number(process.argv[2]);
for (let i = 0; i < n; i++) {
  all += score(i);
  if (i > 90) all += odd(i);
}
console.log(all);
if (n > 150) process.exitCode = 1;
