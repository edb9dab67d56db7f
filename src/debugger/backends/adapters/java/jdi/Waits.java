package debugger.jdi;

import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Describes what a thread of the stopped program waits for, and which threads could end the wait.
 *
 * Monitors are known to the JVM; what java.util.concurrent waits with is named by the thread itself
 * (LockSupport.park), and its owner by the lock (AbstractOwnableSynchronizer).
 */
final class Waits {
    private static final int FRAMES = 12;
    private static final int PARTS = 2;  // of a ReentrantReadWriteLock its lock, and that one's owner
    // Kinds by the classes of what a parked thread waits with, the first that fits.
    private static final List<Map.Entry<String, String>> PARKED = List.of(
            Map.entry("ReentrantReadWriteLock", "rwlock"), Map.entry("ReentrantLock", "lock"),
            Map.entry("StampedLock", "rwlock"), Map.entry("Semaphore", "semaphore"),
            Map.entry("CountDownLatch", "group"), Map.entry("CyclicBarrier", "group"),
            Map.entry("Phaser", "group"), Map.entry("ConditionObject", "condition"),
            Map.entry("SynchronousQueue", "receive"));
    // Of these the functions that wait know more.
    private static final Set<String> BY_FUNCTION = Set.of("condition", "receive", "waiting");
    private static final List<Map.Entry<Pattern, String>> USERS = List.of(
            Map.entry(Pattern.compile("(Queue|Deque)\\.(take|poll)"), "receive"),
            Map.entry(Pattern.compile("(Queue|Deque)\\.(put|offer|transfer)"), "send"),
            Map.entry(Pattern.compile("CyclicBarrier\\."), "group"));
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
        if (BY_FUNCTION.contains(kind)) {
            kind = USERS.stream().filter(one -> one.getKey().matcher(top).find())
                    .map(Map.Entry::getValue).findFirst().orElse(kind);
        }
        Value owner = Throwables.read(blocker, "exclusiveOwnerThread");
        boolean isOwned = owner instanceof ThreadReference && isHeld(blocker);
        return format(kind, blocker, threads, isOwned ? (ThreadReference) owner : null);
    }

    /** Returns the class of an object that a thread waits for, or for a part of; "" of others. */
    static String describeAwaited(ThreadReference thread, Object candidate)
            throws DebuggerException {
        try {
            ObjectReference awaited = thread.currentContendedMonitor();
            if (awaited == null) {
                awaited = (ObjectReference) Throwables.read(thread, "parkBlocker");
            }
            return candidate instanceof ObjectReference object && awaited != null
                    && contains(object, awaited, PARTS) ? describeType(object) : "";
        } catch (IncompatibleThreadStateException running) {
            throw new DebuggerException("the thread is running");
        }
    }

    /** Tells whether an object is a part of another one, as the condition of a queue is. */
    private static boolean contains(ObjectReference whole, ObjectReference part, int depth) {
        if (whole.equals(part)) {
            return true;
        }
        boolean hasParts = depth > 0 && Names.isLibrary(whole.referenceType().name());
        return hasParts && whole.getValues(whole.referenceType().allFields()).entrySet().stream()
                .anyMatch(one -> !one.getKey().isStatic()
                        && one.getValue() instanceof ObjectReference inner
                        && contains(inner, part, depth - 1));
    }

    private static boolean isHeld(ObjectReference lock) {
        return !(Throwables.read(lock, "state") instanceof IntegerValue state) || state.value() != 0;
    }

    private static String format(
            String kind, ObjectReference awaited, Threads threads, ThreadReference owner) {
        return kind + ";" + describeType(awaited) + ";"
                + (owner == null ? "" : threads.number(owner));
    }

    private static String describeType(ObjectReference awaited) {
        String full = awaited.referenceType().name();
        String name = Names.shorten(full);
        if (name.endsWith(".ConditionObject")) {
            return "Condition";
        }
        // Of `ReentrantLock.NonfairSync` the user knows the first part.
        int end = name.indexOf('.');
        return end > 0 && Names.isLibrary(full) ? name.substring(0, end) : name;
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
