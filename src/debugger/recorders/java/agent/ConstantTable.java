package debugger.counting;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.function.UnaryOperator;

/** The constants of a class, copied, and methods of ours that are added to them (JVMS 4.4). */
final class ConstantTable {
    private static final int UTF8 = 1;
    private static final int LONG = 5;
    private static final int DOUBLE = 6;
    private static final int CLASS = 7;
    private static final int METHOD = 10;
    private static final int NAME_AND_TYPE = 12;
    private static final int METHOD_HANDLE = 15;
    private static final int COUNT_MAX = 65_535;

    private final String[] texts;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final DataOutputStream out = new DataOutputStream(bytes);
    private int count;

    /** Reads the constants; `rename` gives the texts other values. */
    ConstantTable(DataInputStream in, UnaryOperator<String> rename) throws IOException {
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
        return count <= COUNT_MAX;
    }

    /** Adds a method of the counters; returns the number of its constant. */
    int addMethod(String name, String type) throws IOException {
        int first = count;
        addText(CounterTable.CLASS_NAME);
        addPair(CLASS, first);
        addText(name);
        addText(type);
        addPair(NAME_AND_TYPE, first + 2, first + 3);
        addPair(METHOD, first + 1, first + 4);
        return first + 5;
    }

    private void addText(String text) throws IOException {
        out.write(UTF8);
        out.writeUTF(text);
        count++;
    }

    private void addPair(int tag, int... numbers) throws IOException {
        out.write(tag);
        for (int number : numbers) {
            out.writeShort(number);
        }
        count++;
    }

    void write(DataOutputStream to) throws IOException {
        to.writeShort(count);
        to.write(bytes.toByteArray());
    }
}
