package debugger.counting;

import java.util.concurrent.atomic.AtomicLongArray;

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

    private Counters() {}

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

    /** Returns the counts of a class, of all threads. */
    public static synchronized long[] sum(int type) {
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
