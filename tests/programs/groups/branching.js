// Child processes take the same steps; number 2 takes another branch in one.
const { fork } = require("child_process");

function work(number) {
  let total = 0;
  for (let step = 0; step < 4; step++) {
    if (number === 2 && step === 3) // @branch
      total *= 3; // @odd
    total += step;
  }
  return total;
}

const number = Number(process.argv[2] ?? 0);
work(number);
if (number === 0) {
  for (const one of [1, 2, 3]) fork(__filename, [String(one)]);
}
