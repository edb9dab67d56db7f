const top = 1;
function add(a, b) {
  const s = a + b;
  if (s > 2) {
    const inner = s;
    log(inner);
  }
  for (let i = 0; i < 2; i++) { log(i); }
  const f = (s) => {
    const q = s;
    return q;
  };
  const { x, y: [z] } = f(s);  // let b = 3
  return x + "let a";
}
late(1);
let after = 2, other;
