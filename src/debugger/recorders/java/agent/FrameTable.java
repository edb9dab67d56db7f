package debugger.counting;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** Moves the frames of a method's StackMapTable with its code (JVMS 4.7.4). */
final class FrameTable {
    private static final int SAME_MAX = 63;
    private static final int ONE_ITEM_MAX = 127;
    private static final int ONE_ITEM_FAR = 247;
    private static final int SAME_FAR = 251;
    private static final int FULL = 255;
    private static final int OBJECT = 7;
    private static final int UNINITIALIZED = 8;

    private final DataInputStream in;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final DataOutputStream out = new DataOutputStream(bytes);
    private final CodeRewriter moved;

    private FrameTable(byte[] table, CodeRewriter moved) {
        this.in = new DataInputStream(new ByteArrayInputStream(table));
        this.moved = moved;
    }

    static byte[] move(byte[] table, CodeRewriter moved) throws IOException {
        FrameTable one = new FrameTable(table, moved);
        one.moveFrames();
        return one.bytes.toByteArray();
    }

    private void moveFrames() throws IOException {
        int count = in.readUnsignedShort();
        out.writeShort(count);
        int at = -1;
        int to = -1;
        for (int frame = 0; frame < count; frame++) {
            int type = in.readUnsignedByte();
            boolean isShort = type <= ONE_ITEM_MAX;
            at += 1 + (isShort ? type % (SAME_MAX + 1) : in.readUnsignedShort());
            int delta = moved.label(at) - to - 1;
            to = moved.label(at);
            moveFrame(type, delta);
        }
    }

    private void moveFrame(int type, int delta) throws IOException {
        if (type <= SAME_MAX) {
            writeType(delta <= SAME_MAX, delta, SAME_FAR);
        } else if (type <= ONE_ITEM_MAX) {
            writeType(delta <= SAME_MAX, SAME_MAX + 1 + delta, ONE_ITEM_FAR);
            if (delta > SAME_MAX) {
                out.writeShort(delta);
            }
            moveItems(1);
            return;
        } else {
            out.write(type);
        }
        if (type > SAME_MAX || delta > SAME_MAX) {
            out.writeShort(delta);
        }
        if (type == ONE_ITEM_FAR) {
            moveItems(1);
        } else if (type == FULL) {
            moveCounted();
            moveCounted();
        } else if (type > SAME_FAR) {
            moveItems(type - SAME_FAR);
        }
    }

    private void writeType(boolean isNear, int near, int far) throws IOException {
        out.write(isNear ? near : far);
    }

    private void moveCounted() throws IOException {
        int count = in.readUnsignedShort();
        out.writeShort(count);
        moveItems(count);
    }

    private void moveItems(int count) throws IOException {
        for (int item = 0; item < count; item++) {
            int tag = in.readUnsignedByte();
            out.write(tag);
            if (tag == OBJECT) {
                out.writeShort(in.readUnsignedShort());
            } else if (tag == UNINITIALIZED) {
                // The `new` itself: a counter before it makes no object.
                out.writeShort(moved.place(in.readUnsignedShort()));
            }
        }
    }
}
