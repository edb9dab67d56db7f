'use strict';
let total = 0;
function add(n) { for (let i = 0; i < n; i++) total += i; }
function stop(code) { const why = code * 2; process.exit(code); }
add(5);
process.on('exit', () => { total += 100; });
if (process.argv.length > 2) stop(3);
console.log(total);
setTimeout(() => { debugger; total += 1; }, 10);
