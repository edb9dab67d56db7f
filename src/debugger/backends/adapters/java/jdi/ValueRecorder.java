package debugger.jdi;

import com.sun.jdi.Field;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectCollectedException;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.ExceptionEvent;
import com.sun.jdi.event.LocatableEvent;
import com.sun.jdi.event.ModificationWatchpointEvent;
import com.sun.jdi.request.BreakpointRequest;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Records from the program's beginning what gives values: writes of variables, fields and elements,
 * returns, new objects, and calls that change containers.
 *
 * What is recorded is named by keys: `field TYPE NAME`, `local TYPE NAME DESCRIPTOR SLOT`,
 * `returns TYPE NAME DESCRIPTOR`, `elements OPCODE`, `made TYPE`, `changes TYPE` of a container,
 * `thrown TYPE`.
 */
final class ValueRecorder {
    private static final Object OWNER = "debugger.recorder";
    private static final int KEPT_MAX = 20_000;  // the last ones are kept
    private static final int SEEN_MAX = 60_000;  // a program that does more runs on unrecorded
    private static final int OWN_DEEP = 4;  // own frames whose variables are read
    private static final int CALLERS_MAX = 16;  // frames of containers and streams above the program
    private static final Set<String> CHANGES = Set.of("add", "addAll", "addFirst", "addLast", "put",
            "putAll", "putIfAbsent", "push", "offer", "offerFirst", "offerLast", "set", "replace",
            "merge", "computeIfAbsent", "compute", "computeIfPresent", "remove", "clear", "sort",
            "pop", "poll", "pollFirst", "pollLast", "removeFirst", "removeLast", "<init>");

    private final VirtualMachine vm;
    private final ValueReader reader;
    private final Set<String> keys;
    private final Deque<Moment> moments = new ArrayDeque<>();
    private final Set<ReferenceType> bound = new HashSet<>();
    private final Set<Location> places = new HashSet<>();
    private final List<EventRequest> requests = new ArrayList<>();
    private final List<EventRequest> ofLibrary = new ArrayList<>();
    private int count;

    ValueRecorder(VirtualMachine vm, List<String> keys) {
        this.vm = vm;
        this.keys = new HashSet<>(keys);
        reader = new ValueReader(vm);
    }

    /** Begins to record, as classes are loaded. */
    void begin() {
        ClassPrepareRequest request = vm.eventRequestManager().createClassPrepareRequest();
        Names.libraryPatterns().forEach(request::addClassExclusionFilter);
        request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        request.enable();
        for (String key : keys) {
            String[] words = key.split(" ");
            boolean isOfType = Set.of("changes", "thrown", "field").contains(words[0]);
            if (isOfType && Names.isForeign(words[1])) {
                ClassPrepareRequest library = vm.eventRequestManager().createClassPrepareRequest();
                library.addClassFilter(words[1]);
                library.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
                library.enable();
            }
        }
        vm.allClasses().forEach(this::bindClass);
    }

    boolean records(String key) {
        return keys.contains(key);
    }

    boolean isCut() {
        return count > KEPT_MAX;
    }

    // -- what is recorded --------------------------------------------------------------------------

    synchronized void bindClass(ReferenceType type) {
        if (!type.isPrepared() || count >= SEEN_MAX || !bound.add(type)) {
            return;
        }
        if (keys.contains(thrownKey(type))) {
            // What nobody catches is the stop itself.
            enable(vm.eventRequestManager().createExceptionRequest(type, true, false),
                    thrownKey(type));
        }
        for (Field field : type.fields()) {
            if (keys.contains(fieldKey(field))) {
                watch(field);
            }
        }
        if (Names.isForeign(type.name())) {
            bindContainer(type);
            return;
        }
        // Before the program's first class the JVM uses containers for itself.
        ofLibrary.forEach(EventRequest::enable);
        ofLibrary.clear();
        for (Method method : type.methods()) {
            bindMethod(method);
        }
    }

    static String fieldKey(Field field) {
        return "field " + field.declaringType().name() + " " + field.name();
    }

    static String thrownKey(ReferenceType type) {
        return "thrown " + type.name();
    }

    static String methodKey(String kind, Method method) {
        return kind + " " + method.declaringType().name() + " " + method.name() + " "
                + method.signature();
    }

    private void bindMethod(Method method) {
        StackAnalysis analysis = needsAnalysis(method) ? StackAnalysis.of(method) : null;
        if (analysis == null) {
            return;
        }
        String made = "made " + method.declaringType().name();
        if (method.isConstructor() && keys.contains(made)) {
            record(method, 0, made);
        }
        for (StackAnalysis.Write one : analysis.writes()) {
            String key = keyOf(method, analysis, one);
            if (key != null && keys.contains(key)) {
                record(method, one.code(), key);
                // A parameter has its caller's value until it is assigned.
                boolean isParameter = one.slot() >= 0
                        && one.slot() < LocalSlots.countParameters(method);
                if (isParameter) {
                    record(method, 0, key);
                }
            }
        }
    }

    private boolean needsAnalysis(Method method) {
        if (method.isAbstract() || method.isNative()) {
            return false;
        }
        String local = methodKey("local", method) + " ";
        String returned = methodKey("returns", method);
        String made = "made " + method.declaringType().name();
        return keys.stream().anyMatch(one -> one.startsWith("elements ") || one.startsWith(local)
                || one.equals(returned) || one.equals(made));
    }

    private static String keyOf(Method method, StackAnalysis analysis, StackAnalysis.Write write) {
        return switch (write.kind()) {
            case "local" -> methodKey("local", method) + " " + write.slot();
            case "return" -> methodKey("returns", method);
            case "element" -> "elements " + analysis.opcode(write.code());
            default -> null;  // a field is watched
        };
    }

    private void watch(Field field) {
        EventRequest request = vm.eventRequestManager().createModificationWatchpointRequest(field);
        enable(request, fieldKey(field));
    }

    private void record(Method method, long code, String key) {
        Location location = method.locationOfCodeIndex(code);
        if (location != null && places.add(location)) {
            enable(vm.eventRequestManager().createBreakpointRequest(location), key);
        }
    }

    private void enable(EventRequest request, String key) {
        request.putProperty(OWNER, key);
        request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        request.enable();
        requests.add(request);
    }

    /** Tells whether a method of a container, by its name, changes what is in it. */
    static boolean isChange(String method) {
        return CHANGES.contains(method);
    }

    private void bindContainer(ReferenceType type) {
        String key = "changes " + type.name();
        if (!keys.contains(key)) {
            return;
        }
        List<Method> methods = new ArrayList<>(type.visibleMethods());
        methods.addAll(type.methodsByName("<init>"));
        for (Method method : methods) {
            boolean isChange = isChange(method.name()) && !method.isAbstract()
                    && !method.isBridge() && !method.isPrivate() && !method.isNative()
                    && (!method.isConstructor() || method.signature().contains("java/util/"));
            if (isChange) {
                BreakpointRequest request =
                        vm.eventRequestManager().createBreakpointRequest(method.location());
                request.putProperty(OWNER, key);
                request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
                requests.add(request);
                ofLibrary.add(request);
            }
        }
        if (bound.stream().anyMatch(one -> !Names.isForeign(one.name()))) {
            ofLibrary.forEach(EventRequest::enable);
            ofLibrary.clear();
        }
    }

    // -- what happens ------------------------------------------------------------------------------

    static boolean isOwn(Event event) {
        return event.request() != null && event.request().getProperty(OWNER) != null;
    }

    /** Notes what is about to happen. */
    synchronized void note(LocatableEvent event) {
        if (++count > SEEN_MAX) {
            requests.forEach(EventRequest::disable);
            return;
        }
        try {
            Moment made = read(event, (String) event.request().getProperty(OWNER));
            if (made != null) {
                if (moments.size() == KEPT_MAX) {
                    moments.removeFirst();
                }
                moments.addLast(made);
            }
        } catch (IncompatibleThreadStateException | ObjectCollectedException unread) {
            // It is as if it had not been recorded: the chain ends there.
        }
    }

    private Moment read(LocatableEvent event, String key) throws IncompatibleThreadStateException {
        ThreadReference thread = event.thread();
        int depth = thread.frameCount();
        if (key.startsWith("changes ") && !isCalledByProgram(thread, depth)) {
            count--;
            return null;
        }
        List<RecordedFrame> frames = Moment.readFrames(thread, depth, OWN_DEEP);
        String name = Threads.name(thread);
        Map<ValueNode, ValueReader.Known> known = new IdentityHashMap<>();
        if (event instanceof ModificationWatchpointEvent written) {
            readOperands(frames.get(0), known);
            return new Moment(count, key, thread, name, depth, frames, written.field(),
                    written.object(), written.valueCurrent(), written.valueToBe(), List.of(), known);
        }
        if (event instanceof ExceptionEvent raised) {
            Moment made = new Moment(count, key, thread, name, depth, frames, null,
                    raised.exception(), null, null, List.of(), known);
            readCulprit(made);
            return made;
        }
        if (key.startsWith("changes ")) {
            StackFrame frame = thread.frame(0);
            List<Value> given = frame.getArgumentValues();
            Value removed = RemovedItems.readNext(
                    frame.thisObject(), frame.location().method().name(), given);
            return new Moment(count, key, thread, name, depth, frames, null, frame.thisObject(),
                    removed, null, given, known);
        }
        if (key.startsWith("made ")) {
            return new Moment(count, key, thread, name, depth, frames, null,
                    frames.get(0).self(), null, null, List.of(), known);
        }
        readOperands(frames.get(0), known);
        return new Moment(count, key, thread, name, depth, frames, null, null, null, null,
                List.of(), known);
    }

    private void readCulprit(Moment made) {
        int own = made.firstOwn();
        if (own < 0) {
            return;
        }
        RecordedFrame frame = made.frames().get(own);
        FailedCode failed = new FailedCode(made.object(), made, own);
        FailedCode.Culprit culprit = failed.findCulprit();
        if (culprit != null) {
            readAll(culprit.node(), frame, made.known());
        }
        if (culprit != null && culprit.value() != null) {
            made.known().put(culprit.node(), culprit.value());
        }
        ValueNode.Call loop = failed.findChangedLoop();
        if (loop != null && loop.receiver != null) {
            readAll(ValueTrace.resolve(loop.receiver, frame.method()), frame, made.known());
        }
    }

    /** Tells whether a container's method was called by the program, at most through the library. */
    private static boolean isCalledByProgram(ThreadReference thread, int depth)
            throws IncompatibleThreadStateException {
        for (int at = 1; at < Math.min(CALLERS_MAX, depth); at++) {
            Location location = thread.frame(at).location();
            if (RecordedFrame.isOwn(location)) {
                return true;
            }
            if (!location.declaringType().name().startsWith("java.util.")) {
                return false;
            }
        }
        return false;
    }

    /** Reads what the instruction's operands are made of, which may have changed later. */
    private void readOperands(RecordedFrame frame, Map<ValueNode, ValueReader.Known> known) {
        StackAnalysis analysis = frame.isOwn() ? StackAnalysis.of(frame.method()) : null;
        StackAnalysis.Write write = analysis == null ? null : analysis.writeAt(frame.code());
        if (write == null) {
            return;
        }
        for (ValueNode one : new ValueNode[] {write.value(), write.owner(), write.index()}) {
            if (one != null) {
                readAll(one, frame, known);
            }
        }
    }

    private void readAll(
            ValueNode node, RecordedFrame frame, Map<ValueNode, ValueReader.Known> known) {
        ValueReader.Known value = reader.read(node, frame, true);
        if (value != null) {
            known.put(node, value);
        }
        node.parts().forEach(one -> readAll(one, frame, known));
        if (node instanceof ValueNode.Choice choice) {
            choice.alternatives.forEach(one -> readAll(one, frame, known));
        }
    }

    // -- what was recorded -------------------------------------------------------------------------

    /** Returns the recorded moments of a key before another moment, the latest first. */
    synchronized List<Moment> before(String key, int number) {
        List<Moment> found = new ArrayList<>();
        for (Moment one : moments) {
            if (one.number() < number && one.key().equals(key)) {
                found.add(0, one);
            }
        }
        return found;
    }

    /** Returns the recorded writes of a field of an object, or of a static one, latest first. */
    List<Moment> writesOf(Field field, ObjectReference owner, int number) {
        ObjectReference object = field.isStatic() ? null : owner;
        return before(fieldKey(field), number).stream()
                .filter(one -> Objects.equals(one.object(), object)).toList();
    }
}
