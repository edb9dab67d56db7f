// Finds which operand of an expression gave a text one of its characters.
//
// A part is `{text, at}`: the text that is followed, and the character's position in it, -1 if it is
// not known. A piece is `{text, node | array and key | kid}`: what an operand added to the text, NONE
// if it is not known; `whole` is the operand's own text, and `place` gives a position in it.
'use strict';
const { NONE, isObject } = require('./origin_trace.cjs');
const { lengthBefore, readProperty, valueOf } = require('./origin_values.cjs');
const { calleeName } = require('./origin_places.cjs');

const SHORT = 2; // characters of a text that another one may have by chance
const JOINED = 10000; // elements of an array

// A value as `+`, a template or `String` writes it; NONE of an object.
function textOfValue(value) {
  const isUnknown = value === NONE || isObject(value) || typeof value === 'symbol';
  return isUnknown ? NONE : String(value);
}

// The part in the value of the next expression; null of a value that is no text.
function relocate(part, value) {
  if (value === NONE || isObject(value) || value === part.text) return part;
  if (typeof value !== 'string') return null;
  const at = part.text.length >= SHORT ? value.indexOf(part.text) : -1;
  const isOnly = at >= 0 && value.indexOf(part.text, at + 1) < 0;
  return { text: value, at: isOnly && part.at >= 0 ? at + part.at : -1 };
}

// The piece that has the part, and the part in it; null if it is not known.
//   departs: the texts of both sides of a failed check from the part on, or null
function findPiece(pieces, { text, at }, departs) {
  if (at < 0) return pieces.length === 1 ? enter(pieces[0], -1, text) : null;
  const found = locatePiece(pieces, text, at);
  if (!found) return null;
  const { index, start, end } = found;
  const before = at === start ? pieces.slice(0, index).findLast((one) => one.text) : null;
  const isOperand = before && before.text !== NONE && !before.isConstant && before.node?.type !== 'Literal';
  if (isOperand && isMoved(departs, end - start)) return { ...enter(before, before.text.length - 1, before.text), isMoved: true };
  return enter(pieces[index], at - start, text.slice(start, end));
}

// Whether the other text has the next characters, too, but further on: what is before them is too short.
function isMoved(departs, size) {
  return Boolean(departs) && size <= departs.value.length && departs.other.includes(departs.value.slice(0, size));
}

// From both ends on the pieces must be what the text has there: between them one may be unknown.
function locatePiece(pieces, text, at) {
  let [first, start] = [0, 0];
  for (; first < pieces.length && isAt(pieces[first], text, start); first++) {
    const end = start + pieces[first].text.length;
    if (at < end) return { index: first, start, end };
    start = end;
  }
  let [last, end] = [pieces.length - 1, text.length];
  for (; last > first && isBefore(pieces[last], text, end); last--) {
    const from = end - pieces[last].text.length;
    if (at >= from) return { index: last, start: from, end };
    end = from;
  }
  return first === last && pieces[first].text === NONE && at < end ? { index: first, start, end } : null;
}

const isAt = ({ text }, whole, start) => text !== NONE && whole.startsWith(text, start);
const isBefore = ({ text }, whole, end) => text !== NONE && end >= text.length && whole.endsWith(text, end);

function enter(piece, at, text) {
  const place = at < 0 ? -1 : piece.place?.(at) ?? at;
  return piece.isOpaque ? {} : { piece, part: { text: piece.whole ?? text, at: place } };
}

// The pieces of the text that an expression has made; null if it is no expression that joins or
// changes texts. `call` is the call of a library's function.
function listPieces(node, act, time, call, result) {
  const operand = (one) => ({ node: one, text: textOfValue(valueOf(one, act, time)) });
  if (node.type === 'TemplateLiteral') {
    return node.quasis.flatMap((one, at) => [
      { text: one.value.cooked, isConstant: true }, ...(node.expressions[at] ? [operand(node.expressions[at])] : []),
    ]);
  }
  const isSum = node.type === 'BinaryExpression' && node.operator === '+';
  if (isSum || (node.type === 'AssignmentExpression' && node.operator === '+=')) return [operand(node.left), operand(node.right)];
  if (!call || node.type !== 'CallExpression' || node.arguments.some((one) => one.type === 'SpreadElement')) return null;
  const method = calleeName(node);
  if (node.callee.type === 'Identifier') return method === 'String' && node.arguments.length === 1 ? [operand(node.arguments[0])] : null;
  if (method === 'join' && Array.isArray(call.recv)) return joinedPieces(call.recv, node.arguments[0], act, time);
  if (method === 'toString' && !isObject(call.recv) && call.recv !== NONE) return [{ node: node.callee.object, text: String(call.recv) }];
  const isKnown = typeof call.recv === 'string' && typeof result === 'string' && Object.hasOwn(METHODS, method);
  if (!isKnown) return null;
  const given = node.arguments.map((one) => valueOf(one, act, time));
  return METHODS[method]({ node, act, time, call, result, given, text: call.recv, object: node.callee.object });
}

// The elements of an array with the separators between them.
function joinedPieces(array, separator, act, time) {
  const between = separator ? valueOf(separator, act, time) : ',';
  const size = lengthBefore(array, time);
  const count = Math.min(size ?? array.length, JOINED);
  const pieces = [];
  for (let at = 0; at < count; at++) {
    const value = readProperty(array, String(at), time);
    if (at) pieces.push(separator ? { node: separator, text: textOfValue(between) } : { text: ',', isConstant: true });
    pieces.push({ array, key: String(at), value, text: value === null || value === undefined ? '' : textOfValue(value) });
  }
  // Where the array has been changed since, its end is not the text's.
  if (size === null || size > JOINED) pieces.push({ text: NONE, isOpaque: true }, { text: NONE, isOpaque: true });
  return pieces;
}

// What a method took over of its text from a position on.
function cutPiece({ text, result, object }, start) {
  const isThere = start >= 0 && text.startsWith(result, start);
  return [{ node: object, text: result, whole: text, place: (at) => at + start, isOpaque: !isThere }];
}

function samePlaces({ text, result, object }) {
  return [{ node: object, text: result, whole: text, isOpaque: text.length !== result.length }];
}

function padding({ node, text, result, given }) {
  const by = given.length > 1 ? given[1] : ' ';
  const size = result.length - text.length;
  if (typeof by !== 'string' || !by) return { text: size ? NONE : '', isOpaque: true };
  const added = by.repeat(Math.ceil(size / by.length)).slice(0, size);
  return { text: added, whole: by, place: (at) => at % by.length, node: node.arguments[1], isConstant: given.length < 2 };
}

// The index that a method's argument means in a text; NaN if it is not known.
function indexIn(text, value, isFromEnd) {
  if (value === undefined) return 0;
  if (value === NONE || isObject(value)) return NaN;
  const at = Math.trunc(Number(value)) || 0;
  return Math.min(at < 0 && isFromEnd ? Math.max(at + text.length, 0) : Math.max(at, 0), text.length);
}

function boundsIn(text, given) {
  const end = given[1] === undefined ? text.length : indexIn(text, given[1], false);
  return Math.min(indexIn(text, given[0], false), end);
}

const fromStart = (made) => cutPiece(made, indexIn(made.text, made.given[0], true));

const METHODS = {
  slice: fromStart,
  substr: fromStart,
  at: fromStart,
  charAt: (made) => cutPiece(made, indexIn(made.text, made.given[0], false)),
  substring: (made) => cutPiece(made, boundsIn(made.text, made.given)),
  trim: (made) => cutPiece(made, made.text.length - made.text.trimStart().length),
  trimStart: (made) => cutPiece(made, made.text.length - made.result.length),
  trimEnd: (made) => cutPiece(made, 0),
  toString: (made) => cutPiece(made, 0),
  valueOf: (made) => cutPiece(made, 0),
  toUpperCase: samePlaces,
  toLowerCase: samePlaces,
  toLocaleUpperCase: samePlaces,
  toLocaleLowerCase: samePlaces,
  normalize: samePlaces,
  repeat: ({ text, result, object }) => [{ node: object, text: result, whole: text, place: (at) => at % text.length }],
  padStart: (made) => [padding(made), { node: made.object, text: made.text }],
  padEnd: (made) => [{ node: made.object, text: made.text }, padding(made)],
  concat: ({ node, text, given, object }) => [
    { node: object, text }, ...node.arguments.map((one, at) => ({ node: one, text: textOfValue(given[at]) })),
  ],
  replace: (made) => replacedPieces(made, false),
  replaceAll: (made) => replacedPieces(made, true),
};

// What is between the matches of a pattern, and what each was replaced by.
function replacedPieces({ node, text, given, call, object }, isAll) {
  const matches = findMatches(text, patternOf(node.arguments[0], given[0]), isAll);
  if (!matches) return null;
  const pieces = [];
  let last = 0;
  matches.forEach(({ index, size }, at) => {
    pieces.push(keptPiece(text, last, index, object), replacement(node.arguments[1], given[1], call, matches.length, at));
    last = index + size;
  });
  return [...pieces, keptPiece(text, last, text.length, object)];
}

const keptPiece = (text, start, end, node) => ({ node, text: text.slice(start, end), whole: text, place: (at) => at + start });

function replacement(node, value, { kids }, count, at) {
  if (typeof value === 'string' && !value.includes('$')) return { node, text: value };
  const kid = kids.length === count ? kids[at] : null;
  // A template with `$1` has characters of the text, too.
  return kid?.result ? { kid, text: textOfValue(kid.result.value) } : { text: NONE, isOpaque: true };
}

// The part of a match that a callback of `replace` got; null if it is not known.
function matchPart(part, node, call, number, act) {
  const isAll = calleeName(node) === 'replaceAll';
  if (!isAll && calleeName(node) !== 'replace') return null;
  const pattern = patternOf(node.arguments[0], valueOf(node.arguments[0], act, call.kids[0].began));
  const match = findMatches(call.recv, pattern, isAll)?.[number];
  const isSame = match && call.recv.slice(match.index, match.index + match.size) === part.text;
  return isSame ? { text: call.recv, at: part.at < 0 ? -1 : match.index + part.at } : null;
}

function patternOf(node, value) {
  if (node?.regex) return new RegExp(node.regex.pattern, node.regex.flags);
  return value instanceof RegExp ? new RegExp(value.source, value.flags) : value;
}

function findMatches(text, pattern, isAll) {
  if (pattern instanceof RegExp) {
    const found = pattern.global ? [...text.matchAll(pattern)] : [pattern.exec(text)].filter(Boolean);
    return found.map((one) => ({ index: one.index, size: one[0].length }));
  }
  if (typeof pattern !== 'string' || !pattern) return null;
  const found = [];
  for (let at = text.indexOf(pattern); at >= 0; at = text.indexOf(pattern, at + pattern.length)) {
    found.push({ index: at, size: pattern.length });
    if (!isAll) break;
  }
  return found;
}

// The only operand that has the whole text in it; null if none has, or several.
function chooseHolder(known, part) {
  const found = known.filter(({ value }) => typeof value === 'string' && relocate(part, value).at >= 0);
  return found.length === 1 ? found[0] : null;
}

// The part of an element that `split` took out of a text; null if it is not known.
function splitPart(part, text, separator, key) {
  if (typeof text !== 'string' || typeof separator !== 'string') return null;
  const elements = text.split(separator);
  if (elements[key] !== part.text) return null;
  const before = elements.slice(0, key).join(separator).length + (Number(key) ? separator.length : 0);
  return { text, at: part.at < 0 ? -1 : before + part.at };
}

// The write by which a character came into a text that only grew at its end since.
function findAppended(events, event, part) {
  let at = events.indexOf(event);
  const isIn = (one) => typeof one.value === 'string' && part.at >= 0 && one.value.length > part.at && part.text.startsWith(one.value);
  if (event.value !== part.text || event.round || event.target?.path.length) return event;
  while (at > 0 && isAppended(events[at].site.node) && isIn(events[at - 1])) at -= 1;
  return events[at];
}

function isAppended({ operator, left, right }) {
  if (operator === '+=') return true;
  let first = right;
  while (first?.type === 'BinaryExpression' && first.operator === '+') first = first.left;
  return operator === '=' && first !== right && left.type === 'Identifier' && first.type === 'Identifier' && first.name === left.name;
}

module.exports = { chooseHolder, findAppended, findPiece, joinedPieces, listPieces, matchPart, relocate, splitPart };
