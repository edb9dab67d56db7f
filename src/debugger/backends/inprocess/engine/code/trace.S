# Where traced functions are entered from enter.S, where they return to, and where the drain looks:
# three ways in, 16 bytes apart.
  .intel_syntax noprefix
  .text
  jmp on_enter
  .balign 16
  jmp returned
  .balign 16
  jmp count_ready
  .balign 16
# Each trampoline calls this, so its address is where the caller's belongs: on_return puts that
# there. No register changes, for compilers know which ones a function of their own leaves alone.
returned:
  push rax
  push rdx
  push rcx
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
  mov rdi, rsp
  mov rbx, rsp
  # The stack of a returning function may have any alignment; compiled code needs 16.
  and rsp, -16
  call on_return
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
  pop rcx
  pop rdx
  pop rax
  ret
  .section .note.GNU-stack,"",@progbits
