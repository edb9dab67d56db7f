function check(o, n) {
  if (o.order === null || n > 90) {
    throw new Error('no order ' + n);
  }
  return o.order.length;
}
let total = 0;
process.argv.slice(2).forEach((a, n) => {
  total += check({ order: a === 'x' ? null : a }, n);
});
console.log(total);
