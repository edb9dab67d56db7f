package debugger.counting;

import java.util.ArrayList;
import java.util.List;

/** The instructions of a method's code: how long each is, and where it jumps (JVMS 6.5). */
final class Instructions {
    static final int GOTO_WIDE = 0xc8;
    static final int TABLE_SWITCH = 0xaa;
    static final int LOOKUP_SWITCH = 0xab;
    private static final int IINC = 0x84;
    private static final int IFEQ = 0x99;
    private static final int JSR = 0xa8;
    private static final int RET = 0xa9;
    private static final int RETURN = 0xb1;
    private static final int ATHROW = 0xbf;
    private static final int WIDE = 0xc4;
    private static final int IFNULL = 0xc6;
    private static final int IFNONNULL = 0xc7;
    private static final int JSR_WIDE = 0xc9;

    private final byte[] code;

    Instructions(byte[] code) {
        this.code = code;
    }

    int size() {
        return code.length;
    }

    byte[] bytes() {
        return code;
    }

    int opcode(int at) {
        return code[at] & 0xff;
    }

    int s2(int at) {
        return (short) ((code[at] & 0xff) << 8 | code[at + 1] & 0xff);
    }

    int s4(int at) {
        return (code[at] & 0xff) << 24 | (code[at + 1] & 0xff) << 16
                | (code[at + 2] & 0xff) << 8 | code[at + 3] & 0xff;
    }

    /** Returns where the operands of a switch begin: they are aligned to four bytes. */
    static int afterPadding(int at) {
        return (at & ~3) + 4;
    }

    int length(int at) {
        int operands = afterPadding(at);
        int opcode = opcode(at);
        if (opcode == TABLE_SWITCH) {
            return operands - at + 12 + 4 * (s4(operands + 8) - s4(operands + 4) + 1);
        } else if (opcode == LOOKUP_SWITCH) {
            return operands - at + 8 + 8 * s4(operands + 4);
        } else if (opcode == WIDE) {
            return opcode(at + 1) == IINC ? 6 : 4;
        } else if (isShortJump(opcode)) {
            return 3;
        }
        return plainLength(opcode);
    }

    private static int plainLength(int opcode) {
        switch (opcode) {
            case 0x10: case 0x12: case 0xbc: case RET:  // bipush, ldc, newarray
            case 0x15: case 0x16: case 0x17: case 0x18: case 0x19:  // iload … aload
            case 0x36: case 0x37: case 0x38: case 0x39: case 0x3a:  // istore … astore
                return 2;
            case 0x11: case 0x13: case 0x14: case IINC:  // sipush, ldc_w, ldc2_w
            case 0xb2: case 0xb3: case 0xb4: case 0xb5:  // getstatic … putfield
            case 0xb6: case 0xb7: case 0xb8:  // invokevirtual, invokespecial, invokestatic
            case 0xbb: case 0xbd: case 0xc0: case 0xc1:  // new, anewarray, checkcast, instanceof
                return 3;
            case 0xc5:  // multianewarray
                return 4;
            case 0xb9: case 0xba: case GOTO_WIDE: case JSR_WIDE:  // invokeinterface, invokedynamic
                return 5;
            default:
                return 1;
        }
    }

    /** Tells whether an instruction is a jump with an offset of two bytes. */
    static boolean isShortJump(int opcode) {
        return opcode >= IFEQ && opcode <= JSR || opcode == IFNULL || opcode == IFNONNULL;
    }

    static boolean isWideJump(int opcode) {
        return opcode == GOTO_WIDE || opcode == JSR_WIDE;
    }

    /** Tells whether another instruction than the next one may follow. */
    static boolean endsBlock(int opcode) {
        return isShortJump(opcode) || isWideJump(opcode) || opcode >= RET && opcode <= RETURN
                || opcode == ATHROW;
    }

    /** Returns where the offsets of an instruction stand that are four bytes long. */
    List<Integer> wideOffsets(int at) {
        int opcode = opcode(at);
        List<Integer> found = new ArrayList<>();
        if (isWideJump(opcode)) {
            found.add(at + 1);
        } else if (opcode == TABLE_SWITCH || opcode == LOOKUP_SWITCH) {
            boolean isTable = opcode == TABLE_SWITCH;
            int operands = afterPadding(at);
            found.add(operands);  // of the default
            for (int each = operands + 12; each < at + length(at); each += isTable ? 4 : 8) {
                found.add(each);
            }
        }
        return found;
    }

    /** Returns the instructions that one may jump to. */
    List<Integer> targets(int at) {
        List<Integer> found = new ArrayList<>();
        if (isShortJump(opcode(at))) {
            found.add(at + s2(at + 1));
        }
        wideOffsets(at).forEach(where -> found.add(at + s4(where)));
        return found;
    }
}
