// Reads the texts of its own functions, and runs one elsewhere.
const vm = require('vm');

class Counter {
  step = (n) => (n > 1 ? n : 1);

  count(n) { let s = 0; for (let i = 0; i < n; i++) s += this.step(i); return s; }
}
function sum(n) { let s = 0; for (let i = 0; i < n; i++) { if (i) s += i; else s += 1; } return s; }
console.log(String(Counter), sum.toString(), `${Function.prototype.toString}`, new Counter().step.name, sum.length);
console.log(vm.runInNewContext(`(${sum})(5)`), new Function(`return ${sum}`)()(6), new Counter().count(4));
