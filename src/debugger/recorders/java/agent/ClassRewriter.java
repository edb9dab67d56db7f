package debugger.counting;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Writes a class anew, with counters in its methods (JVMS 4).
 *
 * Nothing else of it changes: it has no new fields or methods that its program could see.
 */
final class ClassRewriter {
    /** The lines of Kotlin's own file; above them are those of inlined code (JSR 45). */
    private static final Pattern OWN_LINES = Pattern.compile("\\*L\\n1#1,(\\d+):1\\n");
    private static final int BRIDGE = 0x40;
    private static final int SYNTHETIC = 0x1000;
    private static final int SLOTS_MAX = Short.MAX_VALUE;  // a `sipush` names each

    private final DataInputStream in;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final DataOutputStream out = new DataOutputStream(bytes);
    private final CountedClass counted;
    private final List<WindowEdge> edges;
    private ConstantTable constants;
    private int lastLine = Integer.MAX_VALUE;
    private int nextSlot;

    private ClassRewriter(byte[] file, CountedClass counted, List<WindowEdge> edges) {
        this.in = new DataInputStream(new ByteArrayInputStream(file));
        this.counted = counted;
        this.edges = edges;
    }

    /** Returns the class with counters; null where none has room in it, or it has no code. */
    static byte[] rewrite(byte[] file, CountedClass counted, List<WindowEdge> edges)
            throws IOException {
        ClassRewriter one = new ClassRewriter(file, counted, edges);
        return one.rewriteClass() ? one.bytes.toByteArray() : null;
    }

    private boolean rewriteClass() throws IOException {
        out.writeLong(in.readLong());  // the magic number and the version
        constants = new ConstantTable(in, UnaryOperator.identity());
        if (!constants.hasRoom()) {
            return false;
        }
        constants.writeExtended(out);
        copy(6);  // access flags, itself, superclass
        copy(2 * copyShort());  // interfaces
        int fields = copyShort();
        for (int field = 0; field < fields; field++) {
            copy(6);
            RawAttribute.writeAll(RawAttribute.readAll(in), out);
        }
        List<RawMethod> methods = new ArrayList<>();
        for (int left = in.readUnsignedShort(); left > 0; left--) {
            methods.add(new RawMethod(in));
        }
        // They say which source the lines of the methods are of.
        List<RawAttribute> attributes = RawAttribute.readAll(in);
        attributes.forEach(this::readOrigin);
        out.writeShort(methods.size());
        for (RawMethod method : methods) {
            rewriteMethod(method);
        }
        RawAttribute.writeAll(attributes, out);
        counted.slots = nextSlot;
        return nextSlot > 0;
    }

    private void copy(int size) throws IOException {
        out.write(in.readNBytes(size));
    }

    private int copyShort() throws IOException {
        int number = in.readUnsignedShort();
        out.writeShort(number);
        return number;
    }

    private void readOrigin(RawAttribute one) {
        String name = constants.text(one.name);
        if (name.equals("SourceFile")) {
            counted.source = constants.text((one.content[0] & 0xff) << 8 | one.content[1] & 0xff);
        } else if (name.equals("SourceDebugExtension")) {
            Matcher own = OWN_LINES.matcher(new String(one.content, StandardCharsets.UTF_8));
            lastLine = own.find() ? Integer.parseInt(own.group(1)) : lastLine;
        }
    }

    private void rewriteMethod(RawMethod method) throws IOException {
        String name = constants.text(method.name);
        List<RawAttribute> written = new ArrayList<>();
        for (RawAttribute one : method.attributes) {
            boolean isCode = constants.text(one.name).equals("Code");
            written.add(isCode && isOfSource(method.flags, name)
                    ? new RawAttribute(one.name, countCode(name, one.content)) : one);
        }
        out.writeShort(method.flags);
        out.writeShort(method.name);
        out.writeShort(method.descriptor);
        RawAttribute.writeAll(written, out);
    }

    /** Tells whether a method is of the source: of what the compiler adds, only lambdas are. */
    private static boolean isOfSource(int flags, String name) {
        return (flags & BRIDGE) == 0 && ((flags & SYNTHETIC) == 0
                || name.contains("lambda$") || name.contains("$anonfun$"));
    }

    private byte[] countCode(String name, byte[] content) throws IOException {
        int begin = nextSlot;
        try {
            return new CodeAttribute(content, name).count();
        } catch (CodeRewriter.NoRoom | RuntimeException noRoom) {
            // Also of code that is not as the specification has it, which the JVM will refuse.
            nextSlot = begin;
            counted.uncounted.add(name);
            return content;
        }
    }

    /** The attribute of a method's code: its tables move with it (JVMS 4.7.3). */
    private final class CodeAttribute {
        private final String method;
        private final int stack;
        private final int locals;
        private final Instructions code;
        private final int[][] handlers;
        private final List<RawAttribute> attributes;
        private final Map<Integer, Integer> lines = new TreeMap<>();

        CodeAttribute(byte[] content, String method) throws IOException {
            this.method = method;
            DataInputStream own = new DataInputStream(new ByteArrayInputStream(content));
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

        byte[] count() throws IOException, CodeRewriter.NoRoom {
            Set<Integer> entered = new HashSet<>();
            for (int[] handler : handlers) {
                entered.add(handler[2]);
            }
            int entrySlot = nextSlot;
            LinePlan plan = LinePlan.make(code, lines, lastLine, entered, entrySlot + 1);
            if (plan.nextSlot() > SLOTS_MAX) {
                throw new CodeRewriter.NoRoom("its class has too many lines");
            }
            List<Integer> entry = addEdges(plan, entrySlot);
            CodeRewriter moved = new CodeRewriter(code, plan.slots, entry, counted.number, constants);
            byte[] written = write(moved);
            nextSlot = plan.nextSlot();
            counted.methods.add(new CountedMethod(method, entrySlot, plan));
            return written;
        }

        /** Adds the edges of the window that are in the method; returns the counters of its entry. */
        private List<Integer> addEdges(LinePlan plan, int entrySlot) {
            List<Integer> entry = new ArrayList<>(List.of(entrySlot));
            // Its end comes first, so that a window from a function to its next call is not empty.
            for (int edge = 0; edge < edges.size(); edge++) {
                WindowEdge one = edges.get(edge);
                if (one.isFunction(counted, method)) {
                    entry.add(0, ~edge);
                }
                plan.addEdge(one.lineIn(counted), ~edge);
            }
            return entry;
        }

        private byte[] write(CodeRewriter moved) throws IOException, CodeRewriter.NoRoom {
            ByteArrayOutputStream written = new ByteArrayOutputStream();
            DataOutputStream own = new DataOutputStream(written);
            own.writeShort(stack + CodeRewriter.STACK);
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
