// Fails the check whose name is given, because one part of a value is wrong.
const assert = require('node:assert');

function shout(word, loud) {
  if (loud) { // @loud
    return `[${word}!]`; // @shouted
  }
  return `[${word}]`;
}

function writeWords(parts, words) {
  for (const word of words) parts.push(shout(word, word === 'c'));
}

function joined() {
  const parts = [];
  writeWords(parts, ['a', 'b', 'c']);
  const got = parts.join('|');
  assert.strictEqual(got, '[a]|[b]|[c]');
}

function bold(text) {
  return '<b>' + text + '</b>'; // @bold
}

function cut() {
  let page = '<div> ';
  page += bold('x');
  for (const end of [' ', '</div>']) page += end;
  const got = page.slice(5, -6).trim();
  const expected = '<i>x</i>';
  if (got !== expected) {
    throw new Error(got);
  }
}

function escape(text) {
  return text.replace(/[&<]/g, (one) => (one === '&' ? '&amp' : '&lt;')); // @entity
}

function nested() {
  const items = ['a < b', 'a & b'].map((one) => `<li>${escape(one)}</li>`);
  const got = { title: 't', pages: ['p', items.join('\n')] };
  assert.deepStrictEqual(got, { title: 't', pages: ['p', '<li>a &lt; b</li>\n<li>a &amp; b</li>'] });
}

function squares(numbers) {
  return numbers.map((one) => one * one);
}

function counted() {
  const got = squares([1, 2, 4]); // @four
  assert.deepEqual(got, [1, 4, 9]);
}

({ joined, cut, nested, counted })[process.argv[2]]();
