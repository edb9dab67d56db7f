let early = read(1);
export const config = { size: 2 };
var count = read(2);

function read(step) {
  return step > 1 ? config.size : step; // @inner
}

function work(n) {
  note(n); // @entry
  let text = 'x' + n;
  class Row {}
  var row = new Row();
  var note2 = () => note2;
  for (var i = 0; i < 2; i++) {
    note(text, note2); // @round
    var last = i > 5 ? i : undefined;
  }
  return [row, last, inner(1)];
  function inner(z) {
    return z; // @returned
  }
}

function note() {}
work(early + count);
