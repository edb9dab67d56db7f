package debugger.jdi;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.Field;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.event.ModificationWatchpointEvent;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.ModificationWatchpointRequest;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Records the writes of all fields of one name from the program's beginning.
 *
 * Which object is asked about is known only later, at a stop: its writes are then chosen.
 */
final class FieldHistory {
    private static final Object OWNER = "debugger.history";
    private static final int WRITES_MAX = 20_000;  // the last ones are kept
    private static final int SEEN_MAX = 200_000;  // a program that writes more runs on unrecorded
    private static final int SHOWN_MAX = 300;
    private static final int FRAMES_MAX = 20;
    private static final int STACK_MAX = 4;

    private record Write(Field field, long object, Map<String, Object> text) {}

    private final VirtualMachine vm;
    private final Sources sources;
    private final Values values;
    private final String name;
    private final Deque<Write> writes = new ArrayDeque<>();
    private final Set<Field> watched = new HashSet<>();
    private final List<EventRequest> requests = new ArrayList<>();
    private int count;

    FieldHistory(VirtualMachine vm, Sources sources, Values values, String name) {
        this.vm = vm;
        this.sources = sources;
        this.values = values;
        this.name = name;
    }

    /** Begins to watch the fields of the name, as classes are loaded. */
    void begin() {
        ClassPrepareRequest request = vm.eventRequestManager().createClassPrepareRequest();
        Names.libraryPatterns().forEach(request::addClassExclusionFilter);
        request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        request.enable();
        vm.allClasses().forEach(this::bindClass);
    }

    synchronized void bindClass(ReferenceType type) {
        if (!type.isPrepared() || Names.isLibrary(type.name()) || count >= SEEN_MAX) {
            return;
        }
        for (Field field : type.fields()) {
            // A class is reported once for each request that it fits.
            if (field.name().equals(name) && watched.add(field)) {
                ModificationWatchpointRequest request =
                        vm.eventRequestManager().createModificationWatchpointRequest(field);
                request.putProperty(OWNER, OWNER);
                request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
                request.enable();
                requests.add(request);
            }
        }
    }

    static boolean isOwn(ModificationWatchpointEvent event) {
        return event.request().getProperty(OWNER) == OWNER;
    }

    /** Notes a write that is about to happen. */
    synchronized void note(ModificationWatchpointEvent event) {
        if (++count > SEEN_MAX) {
            requests.forEach(EventRequest::disable);
            return;
        }
        if (writes.size() == WRITES_MAX) {
            writes.removeFirst();
        }
        // No thread to call a toString() in: this one goes on at once.
        writes.addLast(new Write(event.field(), id(event.object()), Client.fields(
                "old", values.format(event.valueCurrent(), null),
                "new", values.format(event.valueToBe(), null),
                "stack", readStack(event.thread()))));
    }

    private static long id(ObjectReference object) {
        return object == null ? 0 : object.uniqueID();
    }

    private List<Object> readStack(ThreadReference thread) {
        List<Object> stack = new ArrayList<>();
        try {
            for (StackFrame frame : thread.frames(0, Math.min(FRAMES_MAX, thread.frameCount()))) {
                Location location = frame.location();
                boolean isOwn = !Names.isLibrary(location.declaringType().name());
                if (isOwn && stack.size() < STACK_MAX) {
                    stack.add(List.of(Names.function(location), fileOf(location),
                            Math.max(0, location.lineNumber())));
                }
            }
        } catch (IncompatibleThreadStateException running) {
            // The write is known without its callers.
        }
        return stack;
    }

    private String fileOf(Location location) {
        Path found = sources.find(location);
        try {
            return found != null ? found.toString() : location.sourceName();
        } catch (AbsentInformationException withoutDebugInformation) {
            return "";
        }
    }

    /** Returns the writes of an object's field, or of a static one, as JSON; the last of too many. */
    synchronized String describe(FieldPosition place) {
        long object = id(place.owner());
        List<Object> found = new ArrayList<>();
        for (Write one : writes) {
            if (one.object() == object && one.field().equals(place.field())) {
                found.add(one.text());
            }
        }
        boolean isCut = count > WRITES_MAX || found.size() > SHOWN_MAX;
        boolean isLibrary = Names.isLibrary(place.field().declaringType().name());
        return Json.format(Client.fields("isCut", isCut, "isLibrary", isLibrary, "writes",
                found.subList(Math.max(0, found.size() - SHOWN_MAX), found.size())));
    }
}
