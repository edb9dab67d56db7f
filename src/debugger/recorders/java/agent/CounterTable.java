package debugger.counting;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Defines the counters in the package java.lang: each class loader and each module sees them there,
 * and the JVM's own path of classes stays as it is.
 */
final class CounterTable {
    static final String CLASS_NAME = "java/lang/DebuggerCounters";
    static final String METHOD = "count";
    static final String EDGE_METHOD = "passEdge";
    static final String TYPE = "(II)V";  // of both
    static final String START_METHOD = "changeStart";
    static final String START_TYPE = "([Ljava/lang/String;)[Ljava/lang/String;";
    private static final String TEMPLATE = "debugger/counting/Counters";

    private final MethodHandle add;
    private final MethodHandle sum;
    private final MethodHandle edges;
    private final MethodHandle followStarts;

    private CounterTable(Class<?> counters) throws ReflectiveOperationException {
        MethodHandles.Lookup lookup = MethodHandles.publicLookup();
        add = lookup.findStatic(counters, "add",
                MethodType.methodType(void.class, int.class, int.class));
        sum = lookup.findStatic(counters, "sum", MethodType.methodType(long[].class, int.class));
        edges = lookup.findStatic(counters, "edges", MethodType.methodType(int.class));
        followStarts = lookup.findStatic(counters, "followStarts",
                MethodType.methodType(void.class, UnaryOperator.class));
    }

    static CounterTable define(Instrumentation jvm)
            throws ReflectiveOperationException, IOException {
        Module base = Object.class.getModule();
        jvm.redefineModule(base, Set.of(), Map.of(),
                Map.of("java.lang", Set.of(CounterTable.class.getModule())), Set.of(), Map.of());
        return new CounterTable(MethodHandles.privateLookupIn(Object.class, MethodHandles.lookup())
                .defineClass(renamedTemplate()));
    }

    private static byte[] renamedTemplate() throws IOException {
        try (InputStream file = CounterTable.class.getResourceAsStream("Counters.class")) {
            DataInputStream in = new DataInputStream(new ByteArrayInputStream(file.readAllBytes()));
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeLong(in.readLong());
            new ConstantTable(in, name -> name.equals(TEMPLATE) ? CLASS_NAME : name).write(out);
            out.write(in.readAllBytes());
            return bytes.toByteArray();
        }
    }

    /** Gives a class its counters. */
    void add(int type, int slots) {
        try {
            add.invokeExact(type, slots);
        } catch (Throwable failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Has the words of each command that the program starts changed. */
    void followStarts(UnaryOperator<String[]> change) {
        try {
            followStarts.invokeExact(change);
        } catch (Throwable failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Returns how many edges of the window were passed. */
    int edges() {
        try {
            return (int) edges.invokeExact();
        } catch (Throwable failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Returns the counts of a class. */
    long[] sum(int type) {
        try {
            return (long[]) sum.invokeExact(type);
        } catch (Throwable failed) {
            throw new IllegalStateException(failed);
        }
    }
}
