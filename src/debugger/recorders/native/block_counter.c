/* Counts each basic block of the program's own code, which Frida's Stalker translates when it is
 * first run. Compiled in the program by Frida's CModule (TinyCC, without its own libc).
 *
 * The file of records is shared, so its counts survive any kind of exit. A record has eight words:
 * 0 the block's address
 * 1 its size; in the upper half 1 + the offset of the conditional jump at its end
 * 2 how often it ran
 * 3 how often that jump was taken
 * 4 where to
 * 5 1: a function returns at its end
 * 6 the least and the greatest 32-bit result
 * 7 a bit for each result from 0 to 63
 */
#include <gum/gumstalker.h>
#include <string.h>

#define WORDS 8

extern guint64 *records; /* its first words are the number of records */
extern guint64 *ranges;  /* how many records there may be, how many ranges, and their bounds */

/* All code leaves the flags, the registers and the red zone below the stack pointer alone. */
static const guint8 count_code[] = {
  0x48, 0x8d, 0x64, 0x24, 0x80,                         /* lea rsp, [rsp - 128] */
  0x9c, 0x50,                                           /* pushfq; push rax */
  0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,                   /* mov rax, RECORD */
  0x48, 0xff, 0x40, 0x10,                               /* inc qword [rax + 16] */
  0x58, 0x9d,                                           /* pop rax; popfq */
  0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0,                /* lea rsp, [rsp + 128] */
};
static const guint8 jump_code[] = {
  0x48, 0x8d, 0x64, 0x24, 0x80, 0x9c, 0x50, 0x51,       /* ...; push rcx */
  0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,                   /* mov rax, RECORD */
  0x0f, 0x90, 0xc1,                                     /* setCC cl */
  0x0f, 0xb6, 0xc9,                                     /* movzx ecx, cl */
  0x48, 0x01, 0x48, 0x18,                               /* add [rax + 24], rcx */
  0x59, 0x58, 0x9d, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0,
};
static const guint8 return_code[] = {
  0x48, 0x8d, 0x64, 0x24, 0x80, 0x9c, 0x51,
  0x48, 0xb9, 0, 0, 0, 0, 0, 0, 0, 0,                   /* mov rcx, RECORD */
  0x3b, 0x41, 0x30, 0x7d, 0x03, 0x89, 0x41, 0x30,       /* the least: cmp; jge; mov */
  0x3b, 0x41, 0x34, 0x7e, 0x03, 0x89, 0x41, 0x34,       /* the greatest: cmp; jle; mov */
  0x83, 0xf8, 0x3f, 0x77, 0x09,                         /* cmp eax, 63; ja */
  0x50, 0x89, 0xc0, 0x48, 0x0f, 0xab, 0x41, 0x38, 0x58, /* bts qword [rcx + 56], rax */
  0x59, 0x9d, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0,
};

static void put_code (GumStalkerOutput *output, const guint8 *code, guint size, guint at,
                      guint64 *record, gint condition)
{
  guint8 bytes[80];
  memcpy (bytes, code, size);
  memcpy (bytes + at, &record, 8);
  if (condition >= 0)
    bytes[at + 9] = 0x90 | condition;
  gum_x86_writer_put_bytes (output->writer.x86, bytes, size);
}

static gboolean is_own (guint64 address)
{
  guint64 count = ranges[1], i;
  for (i = 0; i < count; i++)
    if (address >= ranges[2 + 2 * i] && address < ranges[3 + 2 * i])
      return TRUE;
  return FALSE;
}

static guint64 *begin_record (guint64 address)
{
  guint64 number, *record;
  if (!is_own (address))
    return NULL;
  number = (guint64) (guint32) g_atomic_int_add ((volatile gint *) records, 1);
  if (number >= ranges[0])
    return NULL;
  record = records + WORDS + number * WORDS;
  record[6] = 0x800000007fffffffULL;
  record[0] = address;
  return record;
}

static gint condition_of (const guint8 *code)
{
  if (code[0] >= 0x70 && code[0] <= 0x7f)
    return code[0] & 15;
  if (code[0] == 0x0f && code[1] >= 0x80 && code[1] <= 0x8f)
    return code[1] & 15;
  return -1;
}

static guint64 jump_target (const cs_insn *insn)
{
  gint32 far_;
  guint64 next = insn->address + insn->size;
  if (insn->bytes[0] != 0x0f)
    return next + (gint8) insn->bytes[1];
  memcpy (&far_, insn->bytes + 2, 4);
  return next + far_;
}

void transform (GumStalkerIterator *iterator, GumStalkerOutput *output, gpointer data)
{
  const cs_insn *insn;
  guint64 *record = NULL, start = 0;
  gint condition;
  while (gum_stalker_iterator_next (iterator, &insn)) {
    if (start == 0) {
      start = insn->address;
      record = begin_record (start);
      if (record != NULL)
        put_code (output, count_code, sizeof (count_code), 9, record, -1);
    }
    if (record != NULL) {
      record[1] = insn->address + insn->size - start;
      condition = condition_of (insn->bytes);
      if (condition >= 0) {
        record[1] |= (insn->address - start + 1) << 32;
        record[4] = jump_target (insn);
        put_code (output, jump_code, sizeof (jump_code), 10, record, condition);
      } else if (insn->bytes[0] == 0xc3 || insn->bytes[0] == 0xc2
                 || (insn->bytes[0] == 0xf3 && insn->bytes[1] == 0xc3)) {
        record[5] = 1;
        put_code (output, return_code, sizeof (return_code), 9, record, -1);
      }
    }
    gum_stalker_iterator_keep (iterator);
  }
}
