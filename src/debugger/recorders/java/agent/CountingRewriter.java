package debugger.counting;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Puts counters into the methods of a class. */
final class CountingRewriter extends ClassRewriter {
    /** The lines of Kotlin's own file; above them are those of inlined code (JSR 45). */
    private static final Pattern OWN_LINES = Pattern.compile("\\*L\\n1#1,(\\d+):1\\n");
    private static final int BRIDGE = 0x40;
    private static final int SYNTHETIC = 0x1000;
    private static final int SLOTS_MAX = Short.MAX_VALUE;  // a `sipush` names each

    private final CountedClass counted;
    private final List<WindowEdge> edges;
    private int countMethod;
    private int edgeMethod;
    private int lastLine = Integer.MAX_VALUE;
    private int nextSlot;

    private CountingRewriter(byte[] file, CountedClass counted, List<WindowEdge> edges) {
        super(file);
        this.counted = counted;
        this.edges = edges;
    }

    /** Returns the class with counters; null where none has room in it, or it has no code. */
    static byte[] rewrite(byte[] file, CountedClass counted, List<WindowEdge> edges)
            throws IOException {
        CountingRewriter one = new CountingRewriter(file, counted, edges);
        byte[] rewritten = one.rewriteClass();
        counted.slots = one.nextSlot;
        return one.nextSlot > 0 ? rewritten : null;
    }

    @Override
    void addMethods() throws IOException {
        countMethod = constants.addMethod(CounterTable.METHOD, CounterTable.TYPE);
        edgeMethod = constants.addMethod(CounterTable.EDGE_METHOD, CounterTable.TYPE);
    }

    @Override
    void readOrigin(RawAttribute one) {
        String name = constants.text(one.name);
        if (name.equals("SourceFile")) {
            counted.source = constants.text((one.content[0] & 0xff) << 8 | one.content[1] & 0xff);
        } else if (name.equals("SourceDebugExtension")) {
            Matcher own = OWN_LINES.matcher(new String(one.content, StandardCharsets.UTF_8));
            lastLine = own.find() ? Integer.parseInt(own.group(1)) : lastLine;
        }
    }

    @Override
    byte[] rewriteCode(RawMethod method, byte[] content) throws IOException {
        String name = constants.text(method.name);
        if (!isOfSource(method.flags, name)) {
            return content;
        }
        int begin = nextSlot;
        try {
            return countCode(name, new CodeAttribute(content, constants));
        } catch (CodeRewriter.NoRoom | RuntimeException noRoom) {
            // Also of code that is not as the specification has it, which the JVM will refuse.
            nextSlot = begin;
            counted.uncounted.add(name);
            return content;
        }
    }

    /** Tells whether a method is of the source: of what the compiler adds, only lambdas are. */
    private static boolean isOfSource(int flags, String name) {
        return (flags & BRIDGE) == 0 && ((flags & SYNTHETIC) == 0
                || name.contains("lambda$") || name.contains("$anonfun$"));
    }

    private byte[] countCode(String method, CodeAttribute one)
            throws IOException, CodeRewriter.NoRoom {
        int entrySlot = nextSlot;
        LinePlan plan =
                LinePlan.make(one.code, one.lines, lastLine, one.handlerStarts(), entrySlot + 1);
        if (plan.nextSlot() > SLOTS_MAX) {
            throw new CodeRewriter.NoRoom("its class has too many lines");
        }
        byte[] entry = counterCode(addEdges(plan, method, entrySlot));
        Map<Integer, byte[]> inserted = new HashMap<>();
        for (Map.Entry<Integer, List<Integer>> each : plan.slots.entrySet()) {
            inserted.put(each.getKey(), counterCode(each.getValue()));
        }
        byte[] written = one.write(new CodeRewriter(one.code, entry, inserted));
        nextSlot = plan.nextSlot();
        counted.methods.add(new CountedMethod(method, entrySlot, plan));
        return written;
    }

    /** Adds the edges of the window that are in the method; returns the counters of its entry. */
    private List<Integer> addEdges(LinePlan plan, String method, int entrySlot) {
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

    /**
     * Returns code that calls `DebuggerCounters.count(class, slot)` for each counter.
     *
     * A negative counter is an edge of the window, `passEdge(class, edge)`: `~0` its begin, `~1` its end.
     */
    private byte[] counterCode(List<Integer> slots) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        for (int slot : slots) {
            out.write(0x11);  // sipush
            out.writeShort(counted.number);
            out.write(0x11);
            out.writeShort(slot < 0 ? ~slot : slot);
            out.write(0xb8);  // invokestatic
            out.writeShort(slot < 0 ? edgeMethod : countMethod);
        }
        return bytes.toByteArray();
    }
}
