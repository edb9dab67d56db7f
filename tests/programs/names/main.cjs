const lib = require('./lib.cjs');
const dep = require('dep');
class Cart {
  field = (a) => { return a + 1; };
  total(q) {
    return q + 1;
  }
}
class Other {
  total(q) {
    return q;
  }
}
function Old() {}
Old.prototype.proto = function (a) {
  return a;
};
function outer(n) {
  function inner(x) {
    return x * 7;
  }
  const closed = (x) => {
    return x + 7;
  };
  return inner(n) + closed(n);
}
const table = { literal(a) { return a; } };
async function main() {
  const cart = new Cart();
  cart.field(1) + cart.total(2) + new Other().total(3) + new Old().proto(1);
  outer(3) + table.literal(1) + dep.installed(3) + lib.exported(1) + lib.assigned(2);
  const name = './la' + 'ter.mjs';
  (await import(name)).dynamic(2);
}
main();
