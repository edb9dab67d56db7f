# Called by every stub: counts the hit, and calls the hook when it is due.
# The stub's record lies 0x20000 above the stub: hits, the hit to wake at, a predicate or 0, the
# number of the site, how many threads are in here, the one thread that counts or 0, whether the
# predicate leaves the vector registers alone, whether the function that begins there is traced,
# the tracer and what it is given besides the frame, the slot to go on in, whether the agent itself
# may come there (1; 2 where the return address is known, which tells of its calls): then its own
# threads, and those that are in its code, pass without a trace. With that, 4: the hits are counted
# together with those of other sites, where the last word says; else that is the record; and 8: the
# return address is so far above rbp as stands behind, else above the stack pointer.
# The hook gets the frame in rdi, the site in rsi, the hit's number in rdx, and says whether the
# thread stops, which a second hook does; that one is called, too, when the thread was asked to
# pause meanwhile (0x80 in its byte, by trap.c). The predicate gets the frame: r15 r14 r13 r12 r11
# r10 r9 r8 rdi rsi rbp rbx rdx rcx rax flags, and the return address into the stub; then the hit's
# number, and the record's last word, which is the point of log.c; 2 of it means that the thread was
# asked to pause, and that there is nothing else to tell.
  .intel_syntax noprefix
  .set RECORD, 0x20000 - 10
  .text
enter:
  # The short way, for a hit that is not due: flags, rax and rcx are saved, and no other
  # register changes. rsp+24 is the return address into the stub; the record lies RECORD above
  # it.
  pushfq
  push rax
  push rcx
  mov rax, [rsp+24]
  cmp dword ptr [rax+RECORD+72], 0
  jne whose
count:
  mov ecx, 1
  # Threads count concurrently, and each must see its own number.
  lock xadd [rax+RECORD], rcx
  inc rcx
  cmp rcx, [rax+RECORD+8]
  jae due
  cmp dword ptr [rax+RECORD+44], 0
  jne due
  pop rcx
  pop rax
  popfq
  ret
# The site may be reached by threads of the agent itself, or by its code on a thread of the
# program. The return address is compared with the range of the agent, then the byte of the
# thread is looked at.
whose:
  test byte ptr [rax+RECORD+72], 3
  jz together
  push rax
  push r11
  test byte ptr [rax+RECORD+72], 2
  jz thread
  mov ecx, [rax+RECORD+76]
  test byte ptr [rax+RECORD+72], 8
  # 176 is what lies between this rsp and the rsp of the program: five words that were pushed
  # here, the return address into the stub, and the red zone of 128 bytes.
  mov rax, [rsp+rcx+176]
  jz caller
  mov rax, [rbp+rcx]
caller:
  movabs r11, 0x7172737475767778
  movabs rcx, 0x8182838485868788
  sub rax, r11
  cmp rax, rcx
  jb ours
thread:
  # gettid; syscall destroys rcx and r11, which were saved.
  mov eax, 186
  syscall
  movabs rcx, 0x3132333435363738
  test byte ptr [rcx+rax], 0x7f
  jnz ours
  pop r11
  pop rax
  test byte ptr [rax+RECORD+72], 4
  jz count
together:
  mov rax, [rax+RECORD+80]
  mov ecx, 1
  lock xadd [rax], rcx
  inc rcx
  cmp rcx, [rax+8]
  mov rax, [rsp+24]
  jae due
  cmp dword ptr [rax+RECORD+44], 0
  jne due
  pop rcx
  pop rax
  popfq
  ret
ours:
  pop r11
  pop rax
  pop rcx
  pop rax
  popfq
  ret
# The long way. Registers are pushed in the order that the predicate and the agent read them
# in (c_writer.FRAME, agent/20_views.js): a change here is a change there.
due:
  push rdx
  push rbx
  push rbp
  push rsi
  push rdi
  push r8
  push r9
  push r10
  push r11
  push r12
  push r13
  push r14
  push r15
  # Compiled code relies on the direction flag being clear (System V ABI, 3.2.1).
  cld
  mov rbx, rsp
  mov rbp, rcx
  lea r12, [rax+RECORD]
  # How many threads are in here: a detach waits for 0.
  lock inc dword ptr [r12+32]
  cmp dword ptr [r12+44], 0
  jne trace
counted:
  cmp dword ptr [r12+36], 0
  jne one_thread
wanted:
  # Room for XSAVE with AVX-512 (2688 bytes), aligned to 64 as the instruction requires.
  sub rsp, 2816
  and rsp, -64
  mov r15, [r12+16]
  # A predicate that leaves the vector registers alone is called before they are saved.
  cmp dword ptr [r12+40], 0
  je save
  test r15, r15
  jz save
  mov rdi, rbx
  mov rsi, rbp
  mov rdx, [r12+88]
  call r15
  test eax, eax
  jz back
  xor r15d, r15d
  cmp eax, 2
  # The answer 2 means a pause without a hit: the number becomes 0, and the hook is not
  # called.
  cmove rbp, r15
save:
  # xrstor refuses a header with rubbish in it.
  xor eax, eax
  mov [rsp+512], rax
  mov [rsp+520], rax
  mov [rsp+528], rax
  mov [rsp+536], rax
  mov [rsp+544], rax
  mov [rsp+552], rax
  mov [rsp+560], rax
  mov [rsp+568], rax
  # The parts of XSAVE: x87, SSE, AVX and AVX-512; neither PKRU nor MPX.
  mov eax, 0xe7
  xor edx, edx
  xsave64 [rsp]
  test r15, r15
  jz look
  mov rdi, rbx
  mov rsi, rbp
  mov rdx, [r12+88]
  call r15
  test eax, eax
  jz restore
  xor r15d, r15d
  cmp eax, 2
  cmove rbp, r15
look:
  # A forked child has a copy of all this, and no agent: it only runs on.
  movabs r15, 0x5152535455565758
  mov eax, 39
  syscall
  cmp rax, r15
  jne restore
  mov eax, 186
  syscall
  mov r13d, eax
  movabs r14, 0x3132333435363738
  # Busy: a SIGTRAP or PAUSE that comes from here on waits until this thread leaves (trap.c).
  lock inc byte ptr [r14+r13]
  xor eax, eax
  test rbp, rbp
  jz more
  mov rdi, rbx
  mov rsi, [r12+24]
  mov rdx, rbp
  movabs rax, 0x4142434445464748
  call rax
more:
  test eax, eax
  jnz stop
  # Asked to pause meanwhile (0x80), and in the agent by this entry alone (1).
  cmp byte ptr [r14+r13], 0x81
  jne looked
stop:
  lock and byte ptr [r14+r13], 0x7f
  mov rdi, rbx
  mov rsi, [r12+24]
  movabs rax, 0x6162636465666768
  call rax
  xor eax, eax
  jmp more
looked:
  lock dec byte ptr [r14+r13]
restore:
  mov eax, 0xe7
  xor edx, edx
  xrstor64 [rsp]
back:
  lock dec dword ptr [r12+32]
  mov rsp, rbx
  pop r15
  pop r14
  pop r13
  pop r12
  pop r11
  pop r10
  pop r9
  pop r8
  pop rdi
  pop rsi
  pop rbp
  pop rbx
  pop rdx
  pop rcx
  pop rax
  popfq
  ret
trace:
  and rsp, -64
  mov rdi, rbx
  mov rsi, [r12+56]
  call [r12+48]
  mov rsp, rbx
  mov rax, [r12+80]
  cmp rbp, [rax+8]
  jae counted
  jmp back
one_thread:
  mov eax, 186
  syscall
  cmp eax, [r12+36]
  je wanted
  jmp back
  .section .note.GNU-stack,"",@progbits
