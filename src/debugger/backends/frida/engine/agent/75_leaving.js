// How does the program come to be without us, whatever its threads do meanwhile?
'use strict';

// Frida stands at the program's exit, and a thread that comes there while Frida is being unloaded
// waits for ever, or comes back to where nothing is mapped any more. So the code there becomes
// what the file has first.
function freeExits() {
  const regions = File.readAllText('/proc/self/maps').split('\n').map(regionOf);
  for (const name of ['exit', '_exit', 'abort']) {
    const at = exported(name);
    const region = regions.find((one) => one && one.path
      && at.compare(one.start) >= 0 && at.compare(one.end) < 0);
    if (region === undefined) continue;
    const bytes = fileBytes(region.path, at.sub(region.start).add(region.offset), 16);
    if (bytes.length === 16 && hex(bytes) !== hex(new Uint8Array(readBytes(at, 16)))) writeBytes(at, bytes);
  }
}

function regionOf(line) {
  const found = /^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+ *(\/.*)?$/.exec(line);
  if (found === null) return null;
  const [start, end, offset] = found.slice(1, 4).map((text) => ptr(`0x${text}`));
  return { start, end, offset, path: found[4], name: line };
}

function fileBytes(path, offset, count) {
  const descriptor = openFile(Memory.allocUtf8String(path), 0x80000, 0);
  if (descriptor < 0) return [];
  const buffer = Memory.alloc(count);
  const got = pread(descriptor, buffer, count, int64(offset.toString())).toNumber();
  ask(3, descriptor);
  return Array.from(new Uint8Array(buffer.readByteArray(Math.max(got, 0))));
}

// Frida unloads the agent under the feet of who is still in it. Nobody can tell us that he has
// left, for then he runs none of our code: so we look, for a bounded time.
function idle() {
  const limit = microseconds() + 2e6;
  return new Promise((resolve, reject) => {
    const look = () => {
      if (isLeft()) resolve(null);
      else if (microseconds() > limit) reject(new Error('a thread does not leave the agent'));
      else setTimeout(look, 1);
    };
    look();
  });
}

function isLeft() {
  if (sites.some((site) => threadsIn(site) !== 0)) return false;
  return threadsOfProgram().every((thread) => !isBusy(thread)) && threadsInFrida().length === 0;
}

// Frida hides what it has compiled from its own lists.
function noteOwnCode(address) {
  if (isOwnCode(address)) return;
  const regions = File.readAllText('/proc/self/maps').split('\n').map(regionOf);
  const { start, end } = regions.find((one) => one && address.compare(one.start) >= 0 && address.compare(one.end) < 0);
  ownCode.push([start, end]);
}

const threadsOfProgram = () => threadsNow().filter((thread) => !isOurs(thread));

const agentRegions = () => File.readAllText('/proc/self/maps').split('\n')
  .filter((line) => line.includes('frida-agent')).map(regionOf);

function agentMemory() {
  const regions = agentRegions();
  const { start } = regions[0];
  return { start, size: regions[regions.length - 1].end.sub(start) };
}

// The threads that wait in Frida's own code.
function threadsInFrida() {
  const agent = agentRegions();
  return threadsOfProgram().filter((thread) => {
    const words = threadFile(thread, 'syscall').split(' ');
    const at = words.length < 9 ? NULL : ptr(words[8]);
    return agent.some(({ start, end }) => at.compare(start) >= 0 && at.compare(end) < 0);
  });
}

// Who is killed remains in the list until somebody has asked for his status.
function isHostThere() {
  try {
    return !/^State:\s*[ZX]/m.test(File.readAllText(`/proc/${HOST}/status`));
  } catch (error) {
    return false;
  }
}
