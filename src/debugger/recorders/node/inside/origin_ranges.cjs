// Tells which bytes of an ArrayBuffer a call of a library's method has written.
'use strict';

const NUMBERS = ['Int8', 'Uint8', 'Int16', 'Uint16', 'Int32', 'Uint32', 'Float32', 'Float64', 'BigInt64', 'BigUint64'];
const BUFFERS = ['Int8', 'UInt8', 'Uint8', ...['Int16', 'UInt16', 'Uint16', 'Int32', 'UInt32', 'Uint32', 'Float', 'Double',
  'BigInt64', 'BigUInt64', 'BigUint64', 'Int', 'UInt', 'Uint'].flatMap((one) => [`${one}LE`, `${one}BE`])];
const ATOMICS = ['store', 'add', 'sub', 'and', 'or', 'xor', 'exchange', 'compareExchange'];
const WHOLE = ['reverse', 'sort', 'swap16', 'swap32', 'swap64'];
const BYTE_WRITERS = [
  ...NUMBERS.map((one) => `set${one}`), ...BUFFERS.map((one) => `write${one}`), ...ATOMICS, ...WHOLE,
  'write', 'copy', 'readSync', 'randomFillSync', 'getRandomValues', 'encodeInto',
];
const BYTES_MAX = 4096; // that are kept of one write, to be compared with what was read

const isNumber = (value) => typeof value === 'number';
const isView = ArrayBuffer.isView;

function index(value, length, otherwise) {
  if (!isNumber(value)) return otherwise;
  return value < 0 ? Math.max(length + value, 0) : Math.min(value, length);
}

// `{view, first, count, arg, source}` in elements of the view; null for other calls.
function findRange(method, recv, args, value) {
  if (recv === Atomics && isView(args[0]) && ATOMICS.includes(method)) {
    return { view: args[0], first: Number(args[1]), count: 1, arg: method === 'compareExchange' ? 3 : 2 };
  }
  if (method === 'readSync' && isView(args[1])) {
    return { view: args[1], first: isNumber(args[2]) ? args[2] : args[2]?.offset ?? 0, count: Number(value) };
  }
  if (method === 'randomFillSync' || method === 'getRandomValues') return isView(args[0]) ? wholeOf(args[0]) : null;
  if (method === 'encodeInto' && isView(args[1])) return { view: args[1], first: 0, count: value.written, arg: 0 };
  if (!isView(recv)) return null;
  if (recv instanceof DataView) return numberRange(/^set.*?(\d+)$/, method, recv, args, { offset: 0, arg: 1 });
  if (method === 'set') {
    return { view: recv, first: args[1] ?? 0, count: args[0].length, arg: 0, source: { object: args[0], first: 0 } };
  }
  if (WHOLE.includes(method)) return wholeOf(recv);
  if (method === 'fill') {
    const rest = args.slice(1).filter(isNumber);
    const first = index(rest[0], recv.length, 0);
    return { view: recv, first, count: index(rest[1], recv.length, recv.length) - first, arg: 0 };
  }
  if (method === 'copyWithin') {
    const [to, from, end] = [index(args[0], recv.length, 0), index(args[1], recv.length, 0), index(args[2], recv.length, recv.length)];
    return { view: recv, first: to, count: Math.min(end - from, recv.length - to) };
  }
  return Buffer.isBuffer(recv) ? bufferRange(method, recv, args, value) : null;
}

const wholeOf = (view) => ({ view, first: 0, count: view.length });

function numberRange(pattern, method, view, args, { offset, arg }) {
  const bits = pattern.exec(method)?.[1];
  return bits ? { view, first: Number(args[offset] ?? 0), count: Number(bits) / 8, arg } : null;
}

function bufferRange(method, buffer, args, value) {
  if (method === 'write') return { view: buffer, first: isNumber(args[1]) ? args[1] : 0, count: value, arg: 0 };
  if (method === 'copy' && isView(args[0])) {
    return { view: args[0], first: Number(args[1] ?? 0), count: value, source: { object: buffer, first: Number(args[2] ?? 0) } };
  }
  // The others return the offset behind what they have written.
  if (!/^write./.test(method) || !isNumber(value)) return null;
  const first = Number(args[1] ?? 0);
  return { view: buffer, first, count: value - first, arg: 0 };
}

// The bytes that a call has written: `{buffer, begin, end, size, bytes, arg, source}`; null without any.
function findWrittenBytes(method, recv, args, value) {
  const found = findRange(method, recv, args, value);
  if (!found || !(found.count > 0)) return null;
  const { view, first, count, arg, source } = found;
  const size = view.BYTES_PER_ELEMENT ?? 1;
  const begin = view.byteOffset + first * size;
  const length = count * size;
  const bytes = length <= BYTES_MAX ? new Uint8Array(view.buffer, begin, length).slice() : null;
  return { buffer: view.buffer, begin, end: begin + length, size, bytes, arg, source };
}

module.exports = { BYTE_WRITERS, findWrittenBytes };
