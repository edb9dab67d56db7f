package debugger.counting;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The attribute of a method's code: its tables move with it (JVMS 4.7.3). */
final class CodeAttribute {
    /** What is inserted takes so many more entries of the stack. */
    private static final int STACK = 2;

    final Instructions code;
    /** The line that begins at an offset. */
    final Map<Integer, Integer> lines = new TreeMap<>();
    private final ConstantTable constants;
    private final int stack;
    private final int locals;
    private final int[][] handlers;
    private final List<RawAttribute> attributes;

    CodeAttribute(byte[] content, ConstantTable constants) throws IOException {
        this.constants = constants;
        DataInputStream own = read(content);
        stack = own.readUnsignedShort();
        locals = own.readUnsignedShort();
        code = new Instructions(own.readNBytes(own.readInt()));
        handlers = readTable(own, 4);
        attributes = RawAttribute.readAll(own);
        for (RawAttribute each : attributes) {
            if (constants.text(each.name).equals("LineNumberTable")) {
                for (int[] one : readTable(read(each.content), 2)) {
                    lines.putIfAbsent(one[0], one[1]);
                }
            }
        }
    }

    /** Returns where the handlers of exceptions begin. */
    Set<Integer> handlerStarts() {
        Set<Integer> starts = new HashSet<>();
        for (int[] handler : handlers) {
            starts.add(handler[2]);
        }
        return starts;
    }

    /** Returns the attribute with the code as it was moved. */
    byte[] write(CodeRewriter moved) throws IOException, CodeRewriter.NoRoom {
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        DataOutputStream own = new DataOutputStream(written);
        own.writeShort(stack + STACK);
        own.writeShort(locals);
        byte[] rewritten = moved.rewrite();
        own.writeInt(rewritten.length);
        own.write(rewritten);
        own.writeShort(handlers.length);
        for (int[] one : handlers) {
            own.writeShort(moved.label(one[0]));
            own.writeShort(moved.label(one[1]));
            own.writeShort(moved.label(one[2]));
            own.writeShort(one[3]);
        }
        List<RawAttribute> tables = new ArrayList<>();
        for (RawAttribute one : attributes) {
            byte[] table = moveTable(constants.text(one.name), one.content, moved);
            if (table != null) {
                tables.add(new RawAttribute(one.name, table));
            }
        }
        RawAttribute.writeAll(tables, own);
        return written.toByteArray();
    }

    /** Returns a table of the code with its new offsets; null for one that the JVM can miss. */
    private byte[] moveTable(String name, byte[] table, CodeRewriter moved) throws IOException {
        switch (name) {
            case "StackMapTable":
                return FrameTable.move(table, moved);
            case "LineNumberTable":
                return moveRows(table, 2, moved);
            case "LocalVariableTable": case "LocalVariableTypeTable":
                return moveRows(table, 5, moved);
            default:
                return null;
        }
    }

    private byte[] moveRows(byte[] table, int width, CodeRewriter moved) throws IOException {
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        DataOutputStream own = new DataOutputStream(written);
        int[][] rows = readTable(read(table), width);
        own.writeShort(rows.length);
        for (int[] row : rows) {
            int start = row[0];
            row[0] = moved.start(start);
            if (width > 2) {
                row[1] = moved.label(start + row[1]) - row[0];
            }
            for (int value : row) {
                own.writeShort(value);
            }
        }
        return written.toByteArray();
    }

    private static DataInputStream read(byte[] bytes) {
        return new DataInputStream(new ByteArrayInputStream(bytes));
    }

    private static int[][] readTable(DataInputStream from, int width) throws IOException {
        int[][] rows = new int[from.readUnsignedShort()][width];
        for (int[] row : rows) {
            for (int column = 0; column < width; column++) {
                row[column] = from.readUnsignedShort();
            }
        }
        return rows;
    }
}
