// Follows the program's threads from `main` on, and counts the blocks of its own binaries.
'use strict';

const RANGES_MAX = 256;
const SYSTEM = ['/usr/', '/lib/', '/lib64/'];
const kept = []; // or it would be collected

const exported = (name) => Module.getGlobalExportByName(name);
const isOwn = ({ path }) => path.startsWith('/') && !SYSTEM.some((one) => path.startsWith(one))
  && !path.includes('frida-agent');

function mapFile(path, size) {
  const open = new NativeFunction(exported('open'), 'int', ['pointer', 'int']);
  const mmap = new NativeFunction(exported('mmap'), 'pointer',
    ['pointer', 'size_t', 'int', 'int', 'int', 'size_t']);
  const close = new NativeFunction(exported('close'), 'int', ['int']);
  const file = open(Memory.allocUtf8String(path), 0x80002);
  const at = mmap(NULL, size, 3, 1, file, 0);
  close(file);
  if (at.equals(ptr(-1))) throw new Error(`${path} cannot be mapped`);
  return at;
}

function pointerTo(at) {
  const cell = Memory.alloc(8);
  cell.writePointer(at);
  kept.push(cell, at);
  return cell;
}

rpc.exports = {
  begin(path, size, most, source) {
    const own = Process.getCurrentThreadId();
    const ranges = Memory.alloc(16 + 16 * RANGES_MAX);
    ranges.writeU64(most);
    const counter = new CModule(source,
      { records: pointerTo(mapFile(path, size)), ranges: pointerTo(ranges) });
    kept.push(counter);
    // Code that the program writes over its own is not counted anew.
    Stalker.trustThreshold = 0;
    const follow = (thread) => Stalker.follow(thread, { transform: counter.transform });
    let hasBegun = false;
    Process.attachModuleObserver({
      onAdded(module) {
        const count = ranges.add(8).readU64().toNumber();
        if (!isOwn(module) || count >= RANGES_MAX) return;
        ranges.add(16 + 16 * count).writePointer(module.base);
        ranges.add(24 + 16 * count).writePointer(module.base.add(module.size));
        ranges.add(8).writeU64(count + 1);
        send({ path: module.path, base: module.base });
      },
    });
    Process.attachThreadObserver({
      onAdded({ id }) { if (hasBegun && id !== own) follow(id); },
    });
    const main = Process.mainModule.enumerateSymbols().find(({ name }) => name === 'main');
    if (main === undefined) throw new Error('it has no symbol main');
    Interceptor.attach(main.address, {
      onEnter() {
        if (hasBegun) return;
        hasBegun = true;
        follow(this.threadId);
      },
    });
  },
};
