// Workers of Node's cluster get a number each; one of them computes without an end for its own.
const cluster = require("cluster");

function halve(number) {
  while (number !== 1) number = number % 2 ? number * 3 + 2 : number / 2; // @spin
}

if (cluster.isPrimary) {
  for (const number of [8, 7, 8]) cluster.fork().send(number);
} else {
  process.on("message", halve);
}
