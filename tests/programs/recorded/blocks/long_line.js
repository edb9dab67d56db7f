// A script that was written by a program, beside one that was not.
const { double } = require('./written.js');
const results = [];
for (let i = 0; i < 3; i++) results.push(double(i));
console.log(results.join());
