function work(a, p) {
  use(a);
  var x = make(
    a,
  ), y = 2;
  var p = 3;
  for (var i = 0; i < 9; i++) {
    use(i);
    var w = i;
  }
  var f = () => f;
  do {
    use(a);
    var d = 1;
  } while (d < a);
  while (more()) {
    if (x) { use(x); }
    var e = 1;
  }
  return x + w;
}
class Rows {
  *[Symbol.iterator]() { yield later; }
}
const later = 1;
