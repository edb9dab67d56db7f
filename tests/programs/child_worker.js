// The child of child.js: doubles its argument.
'use strict';

function double(number) {
  const result = number * 2;
  return result; // @worker
}

console.log(`child says ${double(Number(process.argv[2]))}`);
