# Where enter.S has a hit written down, and where the drain looks: two ways in, 16 bytes apart.
  .intel_syntax noprefix
  .text
  jmp on_log
  .balign 16
  jmp logs_ready
  .balign 16
  .section .note.GNU-stack,"",@progbits
