# A process that became another program by exec waits here, until somebody has entered it.
# AT_ENTRY leads here, and is restored first: the loader has done its work, and nothing of the
# program itself has run. The data at the end is written by exec_tracking.py: the word to wait
# for (child_processes.py), the process, the entry of the program, the place of AT_ENTRY, and
# the host. The tracer is told by a signal that is ignored by default. Nobody waits for longer
# than 10 s, or 60 s after WAIT, nor when the host has died. An agent that is injected
# meanwhile has threads that begin with our mask, and faults that may not be blocked.
# Registers are as they were, for rdx and rsp mean something to the entry.
  .intel_syntax noprefix
  .set FOLLOWED, 1
  .set FREE, 2
  .set WAIT, 3
  .set TURNS, 10000
  .set TURNS_OF_WAIT, 60000
  .set TURN_NS, 1000000
  .set SIGURG, 23
  .set ESRCH, 3
  # SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV and SIGURG.
  .set UNBLOCKED, 0x4004d8
  .set SIGTRAP_BIT, 0x10
  .text
arrive:
  # The red zone of the entry is empty: the kernel has built this stack, and nothing has been
  # called.
  push rax
  push rbx
  push rcx
  push rdx
  push rsi
  push rdi
  push r10
  push r11
  push r12
  sub rsp, 32
  lea rbx, [rip+told]
  mov rcx, [rip+entry_at]
  mov rax, [rip+entry]
  mov [rcx], rax
  mov eax, 39 # getpid: what a library has forked is no matter of ours
  syscall
  cmp eax, [rip+process]
  jne begin
  # SIG_UNBLOCK; the old mask goes to rsp+8.
  mov qword ptr [rsp], UNBLOCKED
  mov eax, 14 # rt_sigprocmask
  mov edi, 1
  mov rsi, rsp
  lea rdx, [rsp+8]
  mov r10d, 8
  syscall
  mov eax, 234 # tgkill
  mov edi, [rip+process]
  mov esi, edi
  mov edx, SIGURG
  syscall
  xor r12d, r12d
turn:
  mov eax, [rbx]
  cmp eax, FOLLOWED
  je over
  cmp eax, FREE
  je over
  mov ecx, TURNS
  mov edx, TURNS_OF_WAIT
  cmp eax, WAIT
  cmove ecx, edx
  inc r12d
  cmp r12d, ecx
  ja over
  mov eax, 62 # kill: is who holds us there?
  mov edi, [rip+host]
  xor esi, esi
  syscall
  # EPERM would mean that the host is there.
  cmp rax, -ESRCH
  je over
  mov qword ptr [rsp+16], 0
  mov qword ptr [rsp+24], TURN_NS
  mov eax, 35 # nanosleep
  lea rdi, [rsp+16]
  xor esi, esi
  syscall
  jmp turn
over:
  # SIG_SETMASK to the old mask, but never with SIGTRAP: a breakpoint would kill the thread.
  and qword ptr [rsp+8], ~SIGTRAP_BIT
  mov eax, 14
  mov edi, 2
  lea rsi, [rsp+8]
  xor edx, edx
  mov r10d, 8
  syscall
begin:
  add rsp, 32
  pop r12
  pop r11
  pop r10
  pop rdi
  pop rsi
  pop rdx
  pop rcx
  pop rbx
  pop rax
  jmp [rip+entry]
  .balign 8
told:
  .long 0
process:
  .long 0
entry:
  .quad 0
entry_at:
  .quad 0
host:
  .quad 0
