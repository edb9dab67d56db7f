package debugger.jdi;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.Field;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.ExceptionEvent;
import com.sun.jdi.event.StepEvent;
import com.sun.jdi.event.WatchpointEvent;
import com.sun.jdi.request.BreakpointRequest;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.EventRequestManager;
import com.sun.jdi.request.ExceptionRequest;
import com.sun.jdi.request.StepRequest;
import com.sun.jdi.request.WatchpointRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The breakpoints of lines, functions, exceptions and fields, bound as classes are loaded. */
final class Breakpoints {
    private static final Object OWNER = "debugger.breakpoint";
    private static final Object ENTRY = "entry";

    private final Target target;
    private final Client client;
    private final EventRequestManager requests;
    private final Map<String, List<Breakpoint>> byFile = new HashMap<>();
    private List<Breakpoint> functions = List.of();
    private final Set<String> prepared = new HashSet<>();
    private final Map<String, FieldPosition> watchable = new HashMap<>();
    private final Map<Integer, Watch> watches = new HashMap<>();
    private final Map<Long, Watch> written = new HashMap<>();  // by thread: its write is due
    private final Map<Long, Location> accesses = new HashMap<>();  // by thread: its last one
    private Set<String> caughtTypes = Set.of();
    private boolean catchesAll;
    private boolean stopsUncaught;
    private final LastCatchers lastCatchers;
    private ExceptionRequest exceptions;
    private boolean awaitsEntry;
    private int lastId;

    /** A watched field; `access` is the protocol's word. */
    private record Watch(int id, String dataId, String access, String condition, EventRequest[] requests) {}

    Breakpoints(Target target, Client client, boolean stopsOnEntry) {
        this.target = target;
        this.client = client;
        requests = target.vm().eventRequestManager();
        lastCatchers = new LastCatchers(target.vm());
        awaitsEntry = stopsOnEntry;
        if (stopsOnEntry) {
            prepare("");
        }
    }

    // -- lines and functions -----------------------------------------------------------------------

    /** Replaces the breakpoints of a file; describes them in the same order. */
    synchronized List<Map<String, Object>> setLines(String file, List<Map<String, Object>> wanted) {
        List<Breakpoint> before = byFile.getOrDefault(file, List.of());
        List<Breakpoint> now = replace(before, file, wanted);
        byFile.put(file, now);
        String name = Path.of(file).getFileName().toString();
        if (!now.isEmpty()) {
            prepare(stem(name));  // a class without debug information names no file
        }
        if (!now.isEmpty() && prepared.add("file " + name)) {
            ClassPrepareRequest request = requests.createClassPrepareRequest();
            request.addSourceNameFilter(name);
            request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
            request.enable();
        }
        if (now.stream().anyMatch(one -> !before.contains(one))) {
            List<ReferenceType> types = classesOf(file);
            for (Breakpoint one : now) {
                types.forEach(type -> bindLine(one, type));
                one.problem = one.isBound() ? "" : explainLine(one, types);
            }
        }
        return now.stream().map(Breakpoint::describe).toList();
    }

    /** Replaces the function breakpoints; describes them in the same order. */
    synchronized List<Map<String, Object>> setFunctions(List<Map<String, Object>> wanted) {
        List<Breakpoint> before = functions;
        functions = replace(before, null, wanted);
        for (Breakpoint one : functions) {
            if (before.contains(one)) {
                continue;
            }
            FunctionName name = FunctionName.parse(one.function);
            prepare(name.simpleClass());
            if (!name.className().isEmpty()) {
                prepare("Kt");  // of a function outside of classes the name begins with its package
            }
            for (ReferenceType type : target.vm().allClasses()) {
                if (type.isPrepared() && name.fitsClass(type.name())) {
                    bindFunction(one, type);
                }
            }
            one.problem = one.isBound() ? ""
                    : "no class that is loaded has a method " + one.function;
        }
        return functions.stream().map(Breakpoint::describe).toList();
    }

    private List<Breakpoint> replace(
            List<Breakpoint> before, String file, List<Map<String, Object>> wanted) {
        List<Breakpoint> old = new ArrayList<>(before);
        List<Breakpoint> now = new ArrayList<>();
        for (Map<String, Object> one : wanted) {
            Breakpoint made = new Breakpoint(lastId + 1, file, one);
            Breakpoint same = old.stream().filter(made::isSame).findFirst().orElse(null);
            old.remove(same);
            lastId += same == null ? 1 : 0;
            now.add(same == null ? made : same);
        }
        for (Breakpoint gone : old) {
            requests.deleteEventRequests(gone.requests);
            gone.requests.clear();
        }
        return now;
    }

    /** Asks for the loading of classes of a simple name; of all but the libraries' for "". */
    private void prepare(String simpleClass) {
        if (!prepared.add("class " + simpleClass)) {
            return;
        }
        ClassPrepareRequest request = requests.createClassPrepareRequest();
        if (simpleClass.isEmpty()) {
            Names.libraryPatterns().forEach(request::addClassExclusionFilter);
        } else {
            request.addClassFilter("*" + simpleClass);
        }
        request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        request.enable();
    }

    /** Returns the loaded classes that were compiled from a source file. */
    private List<ReferenceType> classesOf(String file) {
        Path path = Path.of(file);
        String declared = target.sources().declaredFolder(path);
        List<ReferenceType> found = new ArrayList<>();
        for (ReferenceType type : target.vm().allClasses()) {
            // The package first: each name of a file costs a round trip.
            String folder = Names.packageOf(type.name()).replace('.', '/');
            boolean mayBe = !file.endsWith(".java") || folder.equals(declared) || folder.isEmpty()
                    || (path.getParent() != null && path.getParent().endsWith(folder));
            if (mayBe && !Names.isLibrary(type.name()) && type.isPrepared() && isOf(type, path)) {
                found.add(type);
            }
        }
        return found;
    }

    private boolean isOf(ReferenceType type, Path file) {
        try {
            for (String sourcePath : Kotlin.sourcePaths(type)) {
                boolean isIt = file.endsWith(sourcePath)
                        || (file.getFileName().equals(Path.of(sourcePath).getFileName())
                        && (!sourcePath.endsWith(".java")
                        || target.sources().declares(file, sourcePath)));
                if (isIt) {
                    target.sources().learn(file, sourcePath);
                    return true;
                }
            }
            return false;
        } catch (AbsentInformationException withoutDebugInformation) {
            return false;
        }
    }

    private void bindLine(Breakpoint breakpoint, ReferenceType type) {
        try {
            Set<Method> methods = new HashSet<>();
            String file = Path.of(breakpoint.file).getFileName().toString();
            for (Location location : type.locationsOfLine(null, file, breakpoint.line)) {
                // A line may have code in several parts: a loop's condition is also at its end.
                // Scala gives a lambda a second method, which calls the first with unboxed values.
                boolean isBridge = location.method().name().endsWith("$adapted");
                if (!isBridge && methods.add(location.method())) {
                    request(breakpoint, location);
                }
            }
        } catch (AbsentInformationException withoutLines) {
            breakpoint.problem = "it was compiled without line numbers (javac -g)";
        }
    }

    private void bindFunction(Breakpoint breakpoint, ReferenceType type) {
        String name = FunctionName.parse(breakpoint.function).method();
        for (Method method : type.methods()) {
            if (method.name().equals(name) && !method.isAbstract() && !method.isNative()
                    && !method.isBridge()) {
                request(breakpoint, method.location());
            }
        }
    }

    private void request(Breakpoint breakpoint, Location location) {
        boolean isThere = breakpoint.requests.stream().anyMatch(
                one -> ((BreakpointRequest) one).location().equals(location));
        if (isThere) {
            return;
        }
        BreakpointRequest request = requests.createBreakpointRequest(location);
        request.putProperty(OWNER, breakpoint);
        request.setSuspendPolicy(breakpoint.suspendPolicy());
        request.enable();
        breakpoint.requests.add(request);
        breakpoint.boundLine = Math.max(0, location.lineNumber());
    }

    private String explainLine(Breakpoint one, List<ReferenceType> types) {
        Path file = Path.of(one.file);
        int count = target.sources().readLines(file).size();
        if (count > 0 && one.line > count) {
            return "line " + one.line + " is past the end of " + file.getFileName() + ", which has "
                    + count + " lines";
        }
        if (!types.isEmpty()) {
            return explainGap(one);
        }
        for (ReferenceType type : target.vm().allClasses()) {
            if (isBare(type, one.file)) {
                return explainBare(one.file);
            }
        }
        return "no class of " + file.getFileName() + " is loaded yet";
    }

    private String explainGap(Breakpoint one) {
        Integer before = null;
        Integer after = null;
        for (int line : codeLines(one.file)) {
            before = line < one.line ? Integer.valueOf(line) : before;
            after = line > one.line && after == null ? Integer.valueOf(line) : after;
        }
        String near = before == null || after == null
                ? String.valueOf(before == null ? after : before) : before + " and " + after;
        return "no class that is loaded has code at line " + one.line + "; the nearest with code: " + near;
    }

    private static String stem(String fileName) {
        return fileName.replaceAll("\\.\\w+$", "");
    }

    /** Tells whether a class seems to be of a file, and was compiled without debug information. */
    private static boolean isBare(ReferenceType type, String file) {
        String stem = stem(Path.of(file).getFileName().toString());
        try {
            return Names.shorten(type.name()).equals(stem) && type.sourceName().isEmpty();
        } catch (AbsentInformationException withoutDebugInformation) {
            return true;
        }
    }

    private static String explainBare(String file) {
        return "the class " + stem(Path.of(file).getFileName().toString())
                + " has no debug information: compile it with javac -g";
    }

    /** Returns the lines with code of a file's loaded classes. */
    synchronized Set<Integer> codeLines(String file) {
        Set<Integer> lines = new TreeSet<>();
        for (ReferenceType type : classesOf(file)) {
            try {
                type.allLineLocations(null, Path.of(file).getFileName().toString())
                        .forEach(location -> lines.add(location.lineNumber()));
            } catch (AbsentInformationException withoutLines) {
                // Another class of the file may have them.
            }
        }
        return lines;
    }

    /** Binds what is for a class that has just been loaded, and reports it. */
    synchronized void bindClass(ReferenceType type) {
        byFile.forEach((file, some) -> {
            if (!some.isEmpty() && isOf(type, Path.of(file))) {
                for (Breakpoint one : some) {
                    boolean wasBound = one.isBound();
                    bindLine(one, type);
                    one.problem = one.isBound() ? "" : explainGap(one);
                    if (!wasBound) {
                        reportChange(one);
                    }
                }
            } else if (!some.isEmpty() && isBare(type, file)) {
                some.forEach(one -> one.problem = explainBare(file));
                some.forEach(this::reportChange);
            }
        });
        for (Breakpoint one : functions) {
            boolean wasBound = one.isBound();
            if (FunctionName.parse(one.function).fitsClass(type.name())) {
                bindFunction(one, type);
                if (one.isBound() && !wasBound) {
                    reportChange(one);
                }
            }
        }
        if (awaitsEntry) {
            bindEntry(type);
        }
    }

    private void reportChange(Breakpoint one) {
        client.sendEvent("breakpoint",
                Client.fields("reason", "changed", "breakpoint", one.describe()));
    }

    private void bindEntry(ReferenceType type) {
        for (Method method : type.methodsByName("main")) {
            // Since Java 25 it may be an instance's, and without arguments.
            boolean isMain = method.declaringType().equals(type) && !method.isAbstract()
                    && method.returnTypeName().equals("void")
                    && (method.argumentTypeNames().isEmpty()
                            || method.argumentTypeNames().equals(List.of("java.lang.String[]")));
            if (isMain) {
                BreakpointRequest request = requests.createBreakpointRequest(method.location());
                request.putProperty(OWNER, ENTRY);
                request.setSuspendPolicy(EventRequest.SUSPEND_ALL);
                request.enable();
            }
        }
    }

    /** Tells whether a hit is the program's entry, which is passed once. */
    synchronized boolean isEntry(BreakpointEvent hit) {
        boolean isIt = awaitsEntry && hit.request().getProperty(OWNER) == ENTRY;
        if (isIt) {
            awaitsEntry = false;
            requests.deleteEventRequest(hit.request());
        }
        return isIt;
    }

    // -- hits --------------------------------------------------------------------------------------

    /** Notes a hit that stops the program, by the protocol's reason; logs one that only logs. */
    void noteHit(BreakpointEvent event, Map<String, List<Integer>> hits) {
        if (!(event.request().getProperty(OWNER) instanceof Breakpoint one)
                || !one.requests.contains(event.request())) {
            return;  // it was removed while this hit waited
        }
        Evaluator evaluator = target.evaluator(new FramePosition(event.thread(), 0));
        if (!holds(one, one.condition, evaluator) || ++one.hits < one.hitCount) {
            return;
        }
        if (one.log != null) {
            client.sendOutput("stdout", LogText.fill(one.log, evaluator, target.values(),
                    event.thread()) + "\n");
            return;
        }
        String reason = one.function == null ? "breakpoint" : "function breakpoint";
        hits.computeIfAbsent(reason, key -> new ArrayList<>()).add(one.id);
    }

    private boolean holds(Breakpoint one, String condition, Evaluator evaluator) {
        try {
            return condition == null || evaluator.isTrue(condition);
        } catch (DebuggerException problem) {
            // Once for each problem: it may be at every turn of a loop.
            if (one == null || one.reported.add(problem.getMessage())) {
                client.sendOutput("condition", condition + ": " + problem.getMessage());
            }
            return false;
        }
    }

    // -- exceptions --------------------------------------------------------------------------------

    /** Sets what exceptions stop the program; types are comma separated names, none for all. */
    synchronized void setExceptions(List<String> filters, List<Map<String, Object>> options) {
        catchesAll = filters.contains("raised");
        caughtTypes = new HashSet<>();
        for (Map<String, Object> one : options) {
            if ("raised".equals(one.get("filterId"))) {
                String types = String.valueOf(one.getOrDefault("condition", ""));
                caughtTypes.addAll(List.of(types.split(",")));
            }
        }
        stopsUncaught = filters.contains("uncaught") || options.stream()
                .anyMatch(one -> "uncaught".equals(one.get("filterId")));
        if (stopsUncaught) {
            lastCatchers.begin();
        }
        requestExceptions();
    }

    /** Takes note of an event that may show that a library catches what nobody else does. */
    synchronized void noteCatcher(Event event) {
        if (lastCatchers.note(event)) {
            requestExceptions();
        }
    }

    private void requestExceptions() {
        boolean stopsCaught = catchesAll || !caughtTypes.isEmpty()
                || stopsUncaught && lastCatchers.mayRun();
        if (exceptions != null) {
            requests.deleteEventRequest(exceptions);
            exceptions = null;
        }
        if (stopsCaught || stopsUncaught) {
            exceptions = requests.createExceptionRequest(null, stopsCaught, stopsUncaught);
            exceptions.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
            exceptions.enable();
        }
    }

    /** Tells whether an exception stops the program; one that a library throws and catches does not. */
    synchronized boolean isCaught(ExceptionEvent event) {
        if (event.catchLocation() == null
                || stopsUncaught && LastCatchers.isLast(event.catchLocation())) {
            return true;
        }
        return (catchesAll || isChosen(event)) && leavesProgram(event);
    }

    /** Tells whether an exception is thrown or caught by the program's code, or passes through it. */
    private static boolean leavesProgram(ExceptionEvent event) {
        Location caught = event.catchLocation();
        if (!Names.isLibrary(event.location().declaringType().name())
                || !Names.isLibrary(caught.declaringType().name())) {
            return true;
        }
        try {
            // As what a check of the library throws for a coroutine, which the library runs.
            for (StackFrame frame : event.thread().frames()) {
                Location at = frame.location();
                if (RecordedFrame.isOwn(at)) {
                    return true;
                } else if (at.method().equals(caught.method())) {
                    return false;
                }
            }
        } catch (IncompatibleThreadStateException running) {
            // It has gone on: no stop is possible.
        }
        return false;
    }

    private boolean isChosen(ExceptionEvent event) {
        for (String name : Names.ancestry(event.exception().referenceType())) {
            String full = "." + Names.full(name);
            if (caughtTypes.stream().anyMatch(wanted -> full.endsWith("." + wanted))) {
                return true;
            }
        }
        return false;
    }

    // -- fields ------------------------------------------------------------------------------------

    /** Names a field for setFields (DAP: DataBreakpointInfoResponse). */
    synchronized String nameField(FieldPosition field) {
        String id = "field" + (watchable.size() + 1);
        watchable.put(id, field);
        return id;
    }

    /** Replaces the watched fields; describes them in the same order. */
    synchronized List<Map<String, Object>> setFields(List<Map<String, Object>> wanted) {
        Map<Integer, Watch> before = new HashMap<>(watches);
        watches.clear();
        List<Map<String, Object>> answers = new ArrayList<>();
        for (Map<String, Object> one : wanted) {
            String dataId = String.valueOf(one.get("dataId"));
            String access = one.get("accessType") instanceof String word ? word : "write";
            String condition = (String) one.get("condition");
            Watch watch = before.values().stream().filter(old -> old.dataId().equals(dataId)
                    && old.access().equals(access)).findFirst().orElse(null);
            if (watch != null) {
                before.remove(watch.id());
            } else if (watchable.containsKey(dataId)) {
                watch = watchField(dataId, access, condition);
            }
            if (watch != null) {
                watches.put(watch.id(), watch);
            }
            answers.add(Client.fields("id", watch == null ? null : watch.id(),
                    "verified", watch != null, "message", watch == null ? "no such field" : null));
        }
        before.values().forEach(old -> requests.deleteEventRequests(List.of(old.requests())));
        return answers;
    }

    private Watch watchField(String dataId, String access, String condition) {
        FieldPosition place = watchable.get(dataId);
        Field field = place.field();
        List<WatchpointRequest> made = new ArrayList<>();
        if (!access.equals("read")) {
            made.add(requests.createModificationWatchpointRequest(field));
        }
        if (!access.equals("write")) {
            made.add(requests.createAccessWatchpointRequest(field));
        }
        Watch watch = new Watch(++lastId, dataId, access, condition, made.toArray(EventRequest[]::new));
        for (WatchpointRequest request : made) {
            if (place.owner() != null) {
                request.addInstanceFilter(place.owner());
            }
            request.putProperty(OWNER, watch);
            request.setSuspendPolicy(EventRequest.SUSPEND_ALL);
            request.enable();
        }
        return watch;
    }

    /** Begins the step behind an access: the JVM reports a write before it is done. */
    synchronized void noteAccess(WatchpointEvent event) {
        if (!(event.request().getProperty(OWNER) instanceof Watch watch)) {
            return;
        }
        // The user's own step of this thread ends here: the JVM refuses a second one.
        target.steps().cancel();
        written.put(event.thread().uniqueID(), watch);
        accesses.put(event.thread().uniqueID(), event.location());
        StepRequest step = requests.createStepRequest(
                event.thread(), StepRequest.STEP_MIN, StepRequest.STEP_OVER);
        step.putProperty(OWNER, watch);
        step.setSuspendPolicy(EventRequest.SUSPEND_ALL);
        step.enable();
    }

    /** Returns function, file and line of a thread's last watched access; null without one. */
    synchronized String describeAccess(ThreadReference thread) {
        Location location = accesses.get(thread.uniqueID());
        Path file = location == null ? null : target.sources().find(location);
        return file == null ? null
                : Names.function(location) + "\n" + file + "\n" + location.lineNumber();
    }

    /** Notes the watchpoint whose access this step has completed, if its condition holds. */
    void noteWritten(StepEvent event, Map<String, List<Integer>> hits) {
        Watch watch;
        synchronized (this) {
            watch = written.remove(event.thread().uniqueID());
            requests.deleteEventRequest(event.request());
            if (watch == null || !watches.containsKey(watch.id())) {
                return;
            }
        }
        Evaluator evaluator = target.evaluator(new FramePosition(event.thread(), 0));
        if (holds(null, watch.condition(), evaluator)) {
            hits.computeIfAbsent("data breakpoint", key -> new ArrayList<>()).add(watch.id());
        }
    }
}
