// The registers of a stopped thread: in the frame of a stub, or in the context of a signal.
'use strict';

const IN_FRAME = { r15: 0, r14: 8, r13: 16, r12: 24, r11: 32, r10: 40, r9: 48, r8: 56, rdi: 64,
  rsi: 72, rbp: 80, rbx: 88, rdx: 96, rcx: 104, rax: 112, rflags: 120 };
// Offsets in ucontext_t of x86-64: gregs begin at 40; at 224 is the pointer to the FPU state.
const IN_CONTEXT = { r8: 40, r9: 48, r10: 56, r11: 64, r12: 72, r13: 80, r14: 88, r15: 96,
  rdi: 104, rsi: 112, rbp: 120, rbx: 128, rdx: 136, rax: 144, rcx: 152, rsp: 160, rip: 168,
  rflags: 176 };
// enter.S: 16 words are pushed, then come the return address into the stub, the red zone and
// the stack as the program had it. The area for XSAVE is below the frame, aligned to 64.
const RETURN_IN_FRAME = 128;
const STACK_IN_FRAME = 264;
const VECTORS_BELOW_FRAME = 2816;

class FrameView {
  constructor(frame, site) { this.frame = frame; this.site = site; }
  get rsp() { return this.frame.add(STACK_IN_FRAME); }
  get rip() { return this.site.address; }
  get vectors() { return this.frame.sub(VECTORS_BELOW_FRAME).and(ptr(-64)); }
  set(name, value) {
    if (name === 'rip') return this.redirect(ptr(value));
    if (!(name in IN_FRAME)) throw new Error(`${name} cannot be set here`);
    this.frame.add(IN_FRAME[name]).writePointer(ptr(value));
  }
  // The thread leaves by code of its own, which undoes the red zone and jumps to the target
  // instead of to the slot.
  redirect(target) {
    const way = Memory.alloc(PAGE);
    Memory.protect(way, PAGE, 'rwx');
    kept.push(way);
    way.writeByteArray([0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0]);
    way.add(14).writePointer(target);
    this.frame.add(RETURN_IN_FRAME).writePointer(way);
  }
}
const kept = [];
for (const [name, at] of Object.entries(IN_FRAME)) {
  Object.defineProperty(FrameView.prototype, name, {
    get() { return this.frame.add(at).readPointer(); } });
}

class ContextView {
  constructor(context) { this.context = context; }
  get vectors() { return this.context.add(224).readPointer(); }
  set(name, value) {
    if (!(name in IN_CONTEXT)) throw new Error(`${name} cannot be set here`);
    this.context.add(IN_CONTEXT[name]).writePointer(ptr(value));
  }
}
for (const [name, at] of Object.entries(IN_CONTEXT)) {
  Object.defineProperty(ContextView.prototype, name, {
    get() { return this.context.add(at).readPointer(); } });
}

function registersOf(view) {
  if (view === null) return {};
  const found = {};
  for (const name of Object.keys(IN_CONTEXT)) found[name] = view[name];
  return found;
}
