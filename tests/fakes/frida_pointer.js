// Frida's NativePointer, as far as compiled expressions use it, over one stretch of memory.
'use strict';
const fs = require('fs');
const task = JSON.parse(fs.readFileSync(0, 'utf8'));
const start = BigInt(task.start);
const memory = new DataView(Uint8Array.from(Buffer.from(task.memory, 'hex')).buffer);
let reads = 0;

class Wide {
  constructor(value) { this.value = value; }
  toNumber() { return Number(this.value); }
  toString() { return this.value.toString(); }
}

class Pointer {
  constructor(address) { this.address = BigInt.asUintN(64, address); }
  static by(value) {
    if (value instanceof Pointer) return value.address;
    if (!Number.isSafeInteger(value)) throw new TypeError(`expected a pointer, not ${value}`);
    return BigInt(value);
  }
  add(value) { return new Pointer(this.address + Pointer.by(value)); }
  and(value) { return new Pointer(this.address & Pointer.by(value)); }
  toUInt32() { return Number(BigInt.asUintN(32, this.address)); }
  toString() { return '0x' + this.address.toString(16); }
  at(size) {
    const offset = this.address - start;
    if (offset < 0n || offset + BigInt(size) > BigInt(memory.byteLength)) {
      throw new Error(`access violation accessing ${this}`);
    }
    reads++;
    return Number(offset);
  }
  readPointer() { return new Pointer(memory.getBigUint64(this.at(8), true)); }
  readS64() { return new Wide(memory.getBigInt64(this.at(8), true)); }
  readU64() { return new Wide(memory.getBigUint64(this.at(8), true)); }
  readByteArray(size) {
    const at = this.at(size);
    return memory.buffer.slice(at, at + size);
  }
}
for (const [name, take, size] of [['readS8', 'getInt8', 1], ['readU8', 'getUint8', 1],
  ['readS16', 'getInt16', 2], ['readU16', 'getUint16', 2], ['readS32', 'getInt32', 4],
  ['readU32', 'getUint32', 4], ['readFloat', 'getFloat32', 4], ['readDouble', 'getFloat64', 8]]) {
  Pointer.prototype[name] = function () { return memory[take](this.at(size), true); };
}
globalThis.ptr = (text) => new Pointer(BigInt(text));

const view = {};
for (const [name, value] of Object.entries(task.registers)) view[name] = ptr(value);
const answers = task.cases.map((expression) => {
  reads = 0;
  try {
    const found = new Function(`return (${expression});`)()(view);
    return { value: typeof found === 'string' ? found : String(found), reads };
  } catch (error) {
    return { error: error.message, kind: error.name, reads };
  }
});
process.stdout.write(JSON.stringify(answers));
