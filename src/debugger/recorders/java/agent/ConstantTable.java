package debugger.counting;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.function.UnaryOperator;

/** The constants of a class, copied, and those of our own methods behind them (JVMS 4.4). */
final class ConstantTable {
    private static final int UTF8 = 1;
    private static final int LONG = 5;
    private static final int DOUBLE = 6;
    private static final int CLASS = 7;
    private static final int METHOD = 10;
    private static final int NAME_AND_TYPE = 12;
    private static final int METHOD_HANDLE = 15;
    private static final int ADDED = 9;
    private static final int COUNT_MAX = 65_535;

    private final String[] texts;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final int count;

    /** Reads the constants; `rename` gives the texts other values. */
    ConstantTable(DataInputStream in, UnaryOperator<String> rename) throws IOException {
        DataOutputStream out = new DataOutputStream(bytes);
        count = in.readUnsignedShort();
        texts = new String[count];
        for (int number = 1; number < count; number++) {
            int tag = in.readUnsignedByte();
            out.write(tag);
            if (tag == UTF8) {
                texts[number] = rename.apply(in.readUTF());
                out.writeUTF(texts[number]);
            } else {
                out.write(in.readNBytes(size(tag)));
            }
            // A long or a double takes two numbers.
            number += tag == LONG || tag == DOUBLE ? 1 : 0;
        }
    }

    private static int size(int tag) {
        switch (tag) {
            case LONG: case DOUBLE:
                return 8;
            case CLASS: case 8: case 16: case 19: case 20:  // String, MethodType, Module, Package
                return 2;
            case METHOD_HANDLE:
                return 3;
            default:
                return 4;
        }
    }

    String text(int number) {
        return texts[number];
    }

    boolean hasRoom() {
        return count + ADDED <= COUNT_MAX;
    }

    /** Returns the number of the constant that names the counting method. */
    int method() {
        return count + 5;
    }

    /** Returns the number of the constant that names the method for the window's edges. */
    int edgeMethod() {
        return count + 8;
    }

    /** Writes the table as it was read. */
    void copy(DataOutputStream out) throws IOException {
        out.writeShort(count);
        out.write(bytes.toByteArray());
    }

    /** Writes the table with our own methods. */
    void writeExtended(DataOutputStream out) throws IOException {
        out.writeShort(count + ADDED);
        out.write(bytes.toByteArray());
        out.write(UTF8);
        out.writeUTF(CounterTable.CLASS_NAME);
        out.write(CLASS);
        out.writeShort(count);
        out.write(UTF8);
        out.writeUTF(CounterTable.METHOD);
        out.write(UTF8);
        out.writeUTF(CounterTable.TYPE);
        out.write(NAME_AND_TYPE);
        out.writeShort(count + 2);
        out.writeShort(count + 3);
        out.write(METHOD);
        out.writeShort(count + 1);
        out.writeShort(count + 4);
        out.write(UTF8);
        out.writeUTF(CounterTable.EDGE_METHOD);
        out.write(NAME_AND_TYPE);
        out.writeShort(count + 6);
        out.writeShort(count + 3);
        out.write(METHOD);
        out.writeShort(count + 1);
        out.writeShort(count + 7);
    }
}
