# Called by every stub: counts the hit, and calls the hook when it is due.
# The stub's record lies 0x20000 above the stub: hits, the hit to wake at, a predicate or 0, and
# the number of the site. The hook gets the frame in rdi, the site in rsi, the hit's number in rdx;
# the predicate gets the frame: r15 r14 r13 r12 r11 r10 r9 r8 rdi rsi rbp rbx
# rdx rcx rax flags, and the return address into the stub.
  .intel_syntax noprefix
  .set RECORD, 0x20000 - 10
  .text
enter:
  pushfq
  push rax
  push rcx
  mov rax, [rsp+24]
  mov ecx, 1
  lock xadd [rax+RECORD], rcx
  inc rcx
  cmp rcx, [rax+RECORD+8]
  jae due
  pop rcx
  pop rax
  popfq
  ret
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
  cld
  mov rbx, rsp
  mov rbp, rcx
  mov r12, [rax+RECORD+16]
  sub rsp, 2816
  and rsp, -64
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
  mov eax, 0xe7
  xor edx, edx
  xsave64 [rsp]
  test r12, r12
  jz look
  mov rdi, rbx
  call r12
  test eax, eax
  jz done
look:
  movabs r15, 0x5152535455565758
  mov eax, 39
  syscall
  cmp rax, r15
  jne done
  mov eax, 186
  syscall
  mov r13d, eax
  and r13d, 0xfff
  movabs r14, 0x3132333435363738
  lock inc byte ptr [r14+r13]
  mov rdi, rbx
  mov rsi, [rbx+128]
  mov rsi, [rsi+RECORD+24]
  mov rdx, rbp
  movabs rax, 0x4142434445464748
  call rax
  lock dec byte ptr [r14+r13]
done:
  mov eax, 0xe7
  xor edx, edx
  xrstor64 [rsp]
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
