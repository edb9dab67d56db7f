package debugger.counting;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Inserts counters into a method's code, and says where each instruction has gone. */
final class CodeRewriter {
    /** A counter takes so many more entries of the stack. */
    static final int STACK = 2;
    /** The code of a method may have so many bytes (JVMS 4.7.3). */
    private static final int CODE_MAX = 65_535;
    private static final int COUNTER_BYTES = 9;

    /** The code has no room for counters. */
    static final class NoRoom extends Exception {
        private static final long serialVersionUID = 1;

        NoRoom(String message) {
            super(message);
        }
    }

    private final Instructions code;
    private final Map<Integer, List<Integer>> slots;
    private final List<Integer> entry;
    private final int classNumber;
    private final int method;
    private final int edgeMethod;
    private final int[] labels;
    private final int[] places;

    /**
     * Lays out the code; `entry` are the counters of its beginning.
     *
     * A negative counter is an edge of the window: `~0` its begin, `~1` its end.
     */
    CodeRewriter(Instructions code, Map<Integer, List<Integer>> slots, List<Integer> entry,
            int classNumber, ConstantTable constants) throws NoRoom {
        this.code = code;
        this.slots = slots;
        this.entry = entry;
        this.classNumber = classNumber;
        this.method = constants.method();
        this.edgeMethod = constants.edgeMethod();
        labels = new int[code.size() + 1];
        places = new int[code.size() + 1];
        // A jump to the first instruction does not enter the method again.
        int to = COUNTER_BYTES * entry.size();
        for (int at = 0; at < code.size(); at += code.length(at)) {
            labels[at] = to;
            to += COUNTER_BYTES * slots.getOrDefault(at, List.of()).size();
            places[at] = to;
            to += isSwitch(at) ? Instructions.afterPadding(to) - to
                    + code.length(at) - (Instructions.afterPadding(at) - at) : code.length(at);
        }
        labels[code.size()] = to;
        places[code.size()] = to;
        if (to > CODE_MAX) {
            throw new NoRoom("its code would be too long");
        }
    }

    private boolean isSwitch(int at) {
        return code.opcode(at) == Instructions.TABLE_SWITCH
                || code.opcode(at) == Instructions.LOOKUP_SWITCH;
    }

    /** Returns where a jump to an instruction goes: its counters run first. */
    int label(int at) {
        return labels[at];
    }

    /** Returns where an instruction itself is. */
    int place(int at) {
        return places[at];
    }

    /** Returns where a range of a table begins: the method's first with its counter. */
    int start(int at) {
        return at == 0 ? 0 : labels[at];
    }

    byte[] rewrite() throws IOException, NoRoom {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        for (int slot : entry) {
            writeCounter(out, slot);
        }
        for (int at = 0; at < code.size(); at += code.length(at)) {
            for (int slot : slots.getOrDefault(at, List.of())) {
                writeCounter(out, slot);
            }
            writeInstruction(out, at);
        }
        return bytes.toByteArray();
    }

    private void writeInstruction(DataOutputStream out, int at) throws IOException, NoRoom {
        byte[] bytes = code.bytes();
        int end = at + code.length(at);
        out.write(bytes[at]);
        int next = at + 1;
        if (Instructions.isShortJump(code.opcode(at))) {
            int offset = labels[at + code.s2(next)] - places[at];
            if (offset != (short) offset) {
                throw new NoRoom("a jump in it would be too far");
            }
            out.writeShort(offset);
            return;
        }
        if (isSwitch(at)) {
            next = Instructions.afterPadding(at);
            out.write(new byte[Instructions.afterPadding(places[at]) - places[at] - 1]);
        }
        for (int where : code.wideOffsets(at)) {
            out.write(bytes, next, where - next);
            out.writeInt(labels[at + code.s4(where)] - places[at]);
            next = where + 4;
        }
        out.write(bytes, next, end - next);
    }

    /** Writes `DebuggerCounters.count(classNumber, slot)`, or `passEdge(classNumber, edge)`. */
    private void writeCounter(DataOutputStream out, int slot) throws IOException {
        out.write(0x11);  // sipush
        out.writeShort(classNumber);
        out.write(0x11);
        out.writeShort(slot < 0 ? ~slot : slot);
        out.write(0xb8);  // invokestatic
        out.writeShort(slot < 0 ? edgeMethod : method);
    }
}
