// Calls several functions in one line.
'use strict';

function plus(a, b) {
  return a + b;
}

function minus(a, b) {
  return a - b;
}

function times(a, b) {
  return a * b;
}

function main() {
  const result = times(plus(1, 2), minus(5, 3)); // @calls
  console.log(`result ${result}`);
}

main();
