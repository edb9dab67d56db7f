package debugger.jdi;

import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.ObjectCollectedException;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadGroupReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.VirtualMachine;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The program's threads, and the small numbers that the client names them by. */
final class Threads {
    // Carriers run virtual threads, which are listed themselves.
    private static final Set<String> SYSTEM_GROUPS =
            Set.of("system", "InnocuousThreadGroup", "CarrierThreads");
    private static final List<String> VIRTUAL_CLASSES =
            List.of("java.lang.VirtualThread", "java.lang.ThreadBuilders$BoundVirtualThread");
    private static final int FRAMES_MAX = 50;
    private static final int VIRTUAL_MAX = 1000;
    private static final int RANKED_MAX = 50;  // virtual ones at a pause: each costs round trips

    private final VirtualMachine vm;
    private final Map<Long, Integer> numbers = new HashMap<>();
    private final Map<Integer, ThreadReference> byNumber = new HashMap<>();
    private final Client client;
    private List<ThreadReference> virtual;  // of this stop, once it was asked for
    private boolean hasReportedBound;
    private ThreadReference last;

    Threads(VirtualMachine vm, Client client) {
        this.vm = vm;
        this.client = client;
    }

    synchronized int number(ThreadReference thread) {
        return numbers.computeIfAbsent(thread.uniqueID(), id -> {
            byNumber.put(numbers.size() + 1, thread);
            return numbers.size() + 1;
        });
    }

    synchronized ThreadReference find(int number) throws DebuggerException {
        ThreadReference thread = byNumber.get(number);
        if (thread == null) {
            throw new DebuggerException("no thread " + number);
        }
        return thread;
    }

    /** Notes the thread of a stop. */
    synchronized void note(ThreadReference thread) {
        last = thread;
        forget();  // what was listed while the program ran
    }

    /** Forgets what holds for one stop. */
    synchronized void forget() {
        virtual = null;
    }

    /** Returns the threads of the program, without the JVM's own. */
    synchronized List<ThreadReference> list() {
        Set<ThreadReference> found = listPlatform();
        found.addAll(listVirtual());
        return new ArrayList<>(found);
    }

    private Set<ThreadReference> listPlatform() {
        Set<ThreadReference> found = new LinkedHashSet<>();
        for (ThreadReference thread : vm.allThreads()) {
            if (thread.equals(last) || !isSystem(thread)) {
                found.add(thread);
            }
        }
        if (last != null && isAlive(last)) {
            found.add(last);
        }
        return found;
    }

    /** Returns the virtual threads that live: the JVM lists none, they are found in its heap. */
    synchronized List<ThreadReference> listVirtual() {
        if (virtual == null) {
            virtual = new ArrayList<>();
            for (String name : VIRTUAL_CLASSES) {
                for (ReferenceType type : vm.classesByName(name)) {
                    addVirtual(type);
                }
            }
        }
        return virtual;
    }

    private void addVirtual(ReferenceType type) {
        List<ObjectReference> all = type.instances(VIRTUAL_MAX);
        for (ObjectReference one : all) {
            if (one instanceof ThreadReference thread && isAlive(thread)) {
                virtual.add(thread);
            }
        }
        if (all.size() == VIRTUAL_MAX && !hasReportedBound) {
            hasReportedBound = true;
            client.sendOutput("important", VIRTUAL_MAX + " virtual threads are listed; there are more\n");
        }
    }

    /** Returns a thread's name; virtual ones mostly have none but their number. */
    static String name(ThreadReference thread) {
        String name = thread.name();
        return !name.isEmpty() ? name : "virtual #" + Throwables.read(thread, "tid");
    }

    static boolean isVirtual(ThreadReference thread) {
        try {
            // It is of the JDK 21, and this is compiled with 17, too.
            return (Boolean) ThreadReference.class.getMethod("isVirtual").invoke(thread);
        } catch (ReflectiveOperationException older) {
            return false;
        }
    }

    private static boolean isSystem(ThreadReference thread) {
        try {
            ThreadGroupReference group = thread.threadGroup();
            // HotSpot's own, which waits for the program's threads after `main` has returned.
            return group == null || SYSTEM_GROUPS.contains(group.name())
                    || thread.name().equals("DestroyJavaVM");
        } catch (ObjectCollectedException ended) {
            return true;
        }
    }

    private static boolean isAlive(ThreadReference thread) {
        try {
            int status = thread.status();
            return status != ThreadReference.THREAD_STATUS_ZOMBIE
                    && status != ThreadReference.THREAD_STATUS_NOT_STARTED;
        } catch (ObjectCollectedException | VMDisconnectedException ended) {
            return false;
        }
    }

    /** Returns the thread to show at a pause: one that runs the program's own code, if any does. */
    synchronized ThreadReference mostInteresting() {
        List<ThreadReference> all = new ArrayList<>(listPlatform());
        List<ThreadReference> some = listVirtual();
        all.addAll(some.subList(0, Math.min(RANKED_MAX, some.size())));
        ThreadReference best = all.isEmpty() ? vm.allThreads().get(0) : all.get(0);
        int bestRank = -1;
        for (ThreadReference thread : all) {
            int rank = rank(thread) * 2 + (thread.equals(last) ? 1 : 0);
            if (rank > bestRank) {
                best = thread;
                bestRank = rank;
            }
        }
        return best;
    }

    private static int rank(ThreadReference thread) {
        try {
            boolean isRunning = thread.status() == ThreadReference.THREAD_STATUS_RUNNING;
            int count = Math.min(FRAMES_MAX, thread.frameCount());
            List<StackFrame> frames = thread.frames(0, count);
            for (StackFrame frame : frames) {
                if (!Names.isLibrary(frame.location().declaringType().name())) {
                    return isRunning ? 2 : 1;
                }
            }
        } catch (IncompatibleThreadStateException | IndexOutOfBoundsException
                | ObjectCollectedException ended) {
            // It is none to be shown.
        }
        return 0;
    }
}
