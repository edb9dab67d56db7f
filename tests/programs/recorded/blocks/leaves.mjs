// Ends within loops: what they have counted up to there is not lost.
function check(n) { if (n === 70) process.exit(3); return n; }

function search(limit) {
  let sum = 0;
  for (let a = 0; a < limit; a++) {
    for (let b = 0; b < 2; b++) {
      sum += check(a);
    }
  }
  return sum;
}
search(10);
search(100);
