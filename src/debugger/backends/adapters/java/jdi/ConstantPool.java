package debugger.jdi;

import com.sun.jdi.ReferenceType;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The constants of a class that its instructions name (JVM specification, 4.4). */
final class ConstantPool {
    private static final int TEXT = 1;
    private static final int INTEGER = 3;
    private static final int FLOAT = 4;
    private static final int LONG = 5;
    private static final int DOUBLE = 6;
    private static final int CLASS = 7;
    private static final int STRING = 8;
    private static final int NAME_AND_TYPE = 12;
    private static final int METHOD_HANDLE = 15;
    private static final int METHOD_TYPE = 16;
    private static final int DYNAMIC = 17;
    private static final int INVOKE_DYNAMIC = 18;
    private static final int MODULE = 19;
    private static final int PACKAGE = 20;

    /** A field or a method: its class by the name of the source, its name and its descriptor. */
    record Member(String type, String name, String descriptor) {}

    /** Two numbers of other constants. */
    private record Pair(int first, int second) {}

    private final Object[] entries;
    private final int[] tags;

    ConstantPool(ReferenceType type) {
        int count = type.constantPoolCount();
        entries = new Object[Math.max(count, 1)];
        tags = new int[entries.length];
        try (DataInputStream input =
                new DataInputStream(new ByteArrayInputStream(type.constantPool()))) {
            for (int number = 1; number < count; number++) {
                tags[number] = input.readUnsignedByte();
                entries[number] = readEntry(input, tags[number]);
                number += tags[number] == LONG || tags[number] == DOUBLE ? 1 : 0;
            }
        } catch (IOException cut) {
            throw new IllegalStateException("the constants of " + type.name() + " cannot be read");
        }
    }

    private static Object readEntry(DataInputStream input, int tag) throws IOException {
        return switch (tag) {
            case TEXT -> input.readUTF();
            case INTEGER -> input.readInt();
            case FLOAT -> input.readFloat();
            case LONG -> input.readLong();
            case DOUBLE -> input.readDouble();
            case CLASS, STRING, METHOD_TYPE, MODULE, PACKAGE ->
                    new Pair(input.readUnsignedShort(), 0);
            case METHOD_HANDLE -> new Pair(input.readUnsignedByte(), input.readUnsignedShort());
            default -> new Pair(input.readUnsignedShort(), input.readUnsignedShort());
        };
    }

    private Pair pair(int number) {
        return (Pair) entries[number];
    }

    private String text(int number) {
        return (String) entries[number];
    }

    /** Returns the name of a class; of an array's its signature. */
    String className(int number) {
        return text(pair(number).first()).replace('/', '.');
    }

    /** Returns a field or a method; of an `invokedynamic` the class is empty. */
    Member member(int number) {
        Pair itself = pair(number);
        boolean isDynamic = tags[number] == INVOKE_DYNAMIC || tags[number] == DYNAMIC;
        Pair named = pair(itself.second());
        return new Member(isDynamic ? "" : className(itself.first()),
                text(named.first()), text(named.second()));
    }

    /** Returns a number, a String, or null for any other constant. */
    Object literal(int number) {
        if (tags[number] == STRING) {
            return text(pair(number).first());
        }
        return entries[number] instanceof Number plain ? plain : null;
    }

    boolean isLiteral(int number) {
        return literal(number) != null;
    }

    /** Returns the types of a descriptor's parameters, as signatures. */
    static List<String> parameters(String descriptor) {
        List<String> found = new ArrayList<>();
        int at = 1;
        while (descriptor.charAt(at) != ')') {
            int start = at;
            while (descriptor.charAt(at) == '[') {
                at++;
            }
            at = descriptor.charAt(at) == 'L' ? descriptor.indexOf(';', at) + 1 : at + 1;
            found.add(descriptor.substring(start, at));
        }
        return found;
    }

    static String returned(String descriptor) {
        return descriptor.substring(descriptor.indexOf(')') + 1);
    }

    static boolean isWide(String signature) {
        return signature.equals("J") || signature.equals("D");
    }
}
