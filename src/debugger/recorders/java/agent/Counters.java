package debugger.counting;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.UnaryOperator;

/**
 * The counters of all classes, and what counts in them.
 *
 * A copy of this class is defined as java.lang.DebuggerCounters (CounterTable.java): that one is
 * used. The thread that begins the program counts without more ado; all others share some tables
 * whose counters are atomic, so that no count is lost.
 */
public final class Counters {
    /** Classes that are counted at most: a `sipush` names each. */
    static final int CLASSES_MAX = Short.MAX_VALUE;
    /** Threads that run at the same time mostly count in different tables. */
    private static final int TABLES = 16;
    private static final Thread FIRST = Thread.currentThread();
    private static final long[][] OWN = new long[CLASSES_MAX][];
    private static final AtomicLongArray[][] SHARED = new AtomicLongArray[TABLES][];

    /** The counts where the window begins, and where it ends; null before. */
    private static final long[][][] EDGES = new long[2][][];

    private static UnaryOperator<String[]> starts;

    private Counters() {}

    /** Has `change` change the words of each command that the program starts. */
    public static void followStarts(UnaryOperator<String[]> change) {
        starts = change;
    }

    /** Returns the words of a command as it is to be started. */
    public static String[] changeStart(String[] words) {
        return starts.apply(words);
    }

    /** Gives a class its counters. */
    public static void add(int type, int slots) {
        OWN[type] = new long[slots];
    }

    /** Counts; small, so that the JVM compiles it into its callers. */
    public static void count(int type, int slot) {
        if (Thread.currentThread() == FIRST) {
            OWN[type][slot]++;
        } else {
            countShared(type, slot);
        }
    }

    private static void countShared(int type, int slot) {
        AtomicLongArray[] table = SHARED[System.identityHashCode(Thread.currentThread()) % TABLES];
        AtomicLongArray counts = table == null ? null : table[type];
        (counts == null ? addShared(type) : counts).getAndIncrement(slot);
    }

    private static synchronized AtomicLongArray addShared(int type) {
        int number = System.identityHashCode(Thread.currentThread()) % TABLES;
        if (SHARED[number] == null) {
            SHARED[number] = new AtomicLongArray[CLASSES_MAX];
        }
        if (SHARED[number][type] == null) {
            SHARED[number][type] = new AtomicLongArray(OWN[type].length);
        }
        return SHARED[number][type];
    }

    /** Notes the counts at an edge of the window, the first time; its end comes after its begin. */
    public static void passEdge(int type, int edge) {
        if (EDGES[edge] == null && (edge == 0 || EDGES[0] != null)) {
            copyCounts(edge);
        }
    }

    private static synchronized void copyCounts(int edge) {
        if (EDGES[edge] != null) {
            return;  // another thread was first
        }
        long[][] copies = new long[CLASSES_MAX][];
        for (int type = 0; type < CLASSES_MAX; type++) {
            copies[type] = OWN[type] == null ? null : total(type);
        }
        EDGES[edge] = copies;
    }

    /** Returns how many edges of the window were passed. */
    public static synchronized int edges() {
        return EDGES[0] == null ? 0 : EDGES[1] == null ? 1 : 2;
    }

    /** Returns the counts of a class, of all threads: those within the window where it has begun. */
    public static synchronized long[] sum(int type) {
        long[] sums = EDGES[1] == null ? total(type)
                : EDGES[1][type] == null ? new long[OWN[type].length] : EDGES[1][type].clone();
        long[] before = EDGES[0] == null ? null : EDGES[0][type];
        for (int slot = 0; before != null && slot < sums.length; slot++) {
            sums[slot] -= before[slot];
        }
        return sums;
    }

    private static long[] total(int type) {
        long[] sums = OWN[type].clone();
        for (AtomicLongArray[] table : SHARED) {
            AtomicLongArray counts = table == null ? null : table[type];
            for (int slot = 0; counts != null && slot < sums.length; slot++) {
                sums[slot] += counts.get(slot);
            }
        }
        return sums;
    }
}
