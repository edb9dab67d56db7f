package debugger.counting;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Map;

/** Inserts calls into a method's code, and says where each instruction has gone. */
final class CodeRewriter {
    /** The code of a method may have so many bytes (JVMS 4.7.3). */
    private static final int CODE_MAX = 65_535;
    private static final byte[] NOTHING = {};

    /** The code has no room for what is inserted. */
    static final class NoRoom extends Exception {
        private static final long serialVersionUID = 1;

        NoRoom(String message) {
            super(message);
        }
    }

    private final Instructions code;
    private final byte[] entry;
    private final Map<Integer, byte[]> inserted;
    private final int[] labels;
    private final int[] places;

    /** Lays out the code with what is inserted where it is entered, and before instructions. */
    CodeRewriter(Instructions code, byte[] entry, Map<Integer, byte[]> inserted) throws NoRoom {
        this.code = code;
        this.entry = entry;
        this.inserted = inserted;
        labels = new int[code.size() + 1];
        places = new int[code.size() + 1];
        // A jump to the first instruction does not enter the method again.
        int to = entry.length;
        for (int at = 0; at < code.size(); at += code.length(at)) {
            labels[at] = to;
            to += insertedAt(at).length;
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

    private byte[] insertedAt(int at) {
        return inserted.getOrDefault(at, NOTHING);
    }

    private boolean isSwitch(int at) {
        return code.opcode(at) == Instructions.TABLE_SWITCH
                || code.opcode(at) == Instructions.LOOKUP_SWITCH;
    }

    /** Returns where a jump to an instruction goes: what is inserted before it runs first. */
    int label(int at) {
        return labels[at];
    }

    /** Returns where an instruction itself is. */
    int place(int at) {
        return places[at];
    }

    /** Returns where a range of a table begins: the method's first with its entry. */
    int start(int at) {
        return at == 0 ? 0 : labels[at];
    }

    byte[] rewrite() throws IOException, NoRoom {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.write(entry);
        for (int at = 0; at < code.size(); at += code.length(at)) {
            out.write(insertedAt(at));
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
}
