package debugger.jdi;

import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.util.List;
import java.util.Map;

/**
 * Describes what a thread of the stopped program waits for, and which threads could end the wait.
 *
 * Monitors are known to the JVM; what java.util.concurrent waits with is named by the thread itself
 * (LockSupport.park), and its owner by the lock (AbstractOwnableSynchronizer).
 */
final class Waits {
    private static final int FRAMES = 12;
    // Kinds by the classes of what a parked thread waits with, the first that fits.
    private static final List<Map.Entry<String, String>> PARKED = List.of(
            Map.entry("ReentrantReadWriteLock", "rwlock"), Map.entry("ReentrantLock", "lock"),
            Map.entry("StampedLock", "rwlock"), Map.entry("Semaphore", "semaphore"),
            Map.entry("CountDownLatch", "group"), Map.entry("CyclicBarrier", "group"),
            Map.entry("Phaser", "group"), Map.entry("ConditionObject", "condition"),
            Map.entry("SynchronousQueue", "receive"));
    private static final List<String> READING = List.of("SocketDispatcher.read", "NioSocketImpl.park",
            "FileInputStream.read", "Net.poll", "Net.accept", "EPoll.wait", "KQueue.poll",
            "FileDispatcherImpl.read", "UnixFileDispatcherImpl.read");

    private Waits() {}

    /** Returns kind, awaited object and owners, as `lock;ReentrantLock;3`; "" for one that runs. */
    static String describe(ThreadReference thread, Threads threads) throws DebuggerException {
        try {
            ObjectReference monitor = thread.currentContendedMonitor();
            int status = thread.status();
            if (monitor != null && status == ThreadReference.THREAD_STATUS_MONITOR) {
                return format("lock", monitor, threads, monitor.owningThread());
            }
            String top = topFunctions(thread);
            if (top.contains("ProcessImpl.waitFor")) {
                return "child;;";
            }
            if (monitor instanceof ThreadReference awaited && top.contains("Thread.join")) {
                return format("join", monitor, threads, awaited);
            }
            if (monitor != null) {
                return format("condition", monitor, threads, null);
            }
            if (status == ThreadReference.THREAD_STATUS_SLEEPING || top.contains("Thread.sleep")) {
                return "sleep;;";
            }
            if (top.contains("Unsafe.park") || top.contains("VirtualThread.park")) {
                return describeParked(thread, top, threads);
            }
            return READING.stream().anyMatch(top::contains) ? "io;;" : "";
        } catch (IncompatibleThreadStateException running) {
            throw new DebuggerException("the thread is running");
        }
    }

    private static String describeParked(ThreadReference thread, String top, Threads threads) {
        if (!(Throwables.read(thread, "parkBlocker") instanceof ObjectReference blocker)) {
            return "waiting;;";
        }
        if (top.contains("VirtualThread.join")) {
            for (ThreadReference one : threads.listVirtual()) {
                boolean isIt = Throwables.read(one, "termination") instanceof ObjectReference latch
                        && blocker.equals(Throwables.read(latch, "sync"));
                if (isIt) {
                    return format("join", one, threads, one);
                }
            }
        }
        String type = blocker.referenceType().name();
        String kind = PARKED.stream().filter(one -> type.contains(one.getKey()))
                .map(Map.Entry::getValue).findFirst().orElse("waiting");
        if (kind.equals("condition") && top.matches("(?s).*\\bBlocking\\w+\\.take.*")) {
            kind = "receive";
        }
        Value owner = Throwables.read(blocker, "exclusiveOwnerThread");
        boolean isOwned = owner instanceof ThreadReference && isHeld(blocker);
        return format(kind, blocker, threads, isOwned ? (ThreadReference) owner : null);
    }

    private static boolean isHeld(ObjectReference lock) {
        return !(Throwables.read(lock, "state") instanceof IntegerValue state) || state.value() != 0;
    }

    private static String format(
            String kind, ObjectReference awaited, Threads threads, ThreadReference owner) {
        String name = Names.shorten(awaited.referenceType().name());
        // Of `ReentrantLock.NonfairSync` the user knows the first part.
        int end = name.indexOf('.');
        boolean isPlumbing = end > 0 && Names.isLibrary(awaited.referenceType().name());
        return kind + ";" + (isPlumbing ? name.substring(0, end) : name) + ";"
                + (owner == null ? "" : threads.number(owner));
    }

    private static String topFunctions(ThreadReference thread)
            throws IncompatibleThreadStateException {
        StringBuilder names = new StringBuilder();
        int count = Math.min(FRAMES, thread.frameCount());
        for (StackFrame frame : count > 0 ? thread.frames(0, count) : List.<StackFrame>of()) {
            names.append(Names.function(frame.location())).append('\n');
        }
        return names.toString();
    }
}
