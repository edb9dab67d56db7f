const LIMITS = new Map([['small', 3]]);
function limitOf(kind) {
  return LIMITS.get(kind) ?? 0;
}
class Order {
  constructor(kind, items) {
    this.kind = kind;
    this.items = items;
  }
  count() {
    return this.items.length;
  }
}
function check(order) {
  if (order.count() > limitOf(order.kind)) throw new RangeError('too many');
}
check(new Order('small'.toUpperCase(), [1, 2]));
