package debugger.jdi;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.Field;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.ObjectCollectedException;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PathSearchingVirtualMachine;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.request.StepRequest;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Serves the requests of the Debug Adapter Protocol for one program. */
public final class Adapter {
    private static final int PAGE_MAX = 10_000;

    /** The variables of a frame: its arguments and `this`, or its other locals. */
    private record FrameScope(FramePosition position, boolean isArguments) {}

    /** A value, and the expression that gives it; null where there is none. */
    private record Part(Value value, String expression, ThreadReference thread) {}

    private final Client client;
    private final Sources sources = new Sources();
    private final VirtualMachine connected;  // a child of a debugged program, else null
    private volatile Target target;
    private boolean pausesAtStart;
    private volatile int lastTotal = Integer.MAX_VALUE;  // frames of the stack that was read last

    Adapter(Client client, VirtualMachine connected) {
        this.client = client;
        this.connected = connected;
    }

    /** Serves until the client has disconnected. */
    public static void main(String[] words) {
        Client client = new Client(System.in, System.out);
        System.setOut(System.err);  // nothing but messages on the real one
        try {
            new Adapter(client, null).serve();
        } catch (EOFException gone) {
            // The client has gone without a word.
        } catch (IOException problem) {
            System.err.println(problem.getMessage());
            System.exit(1);
        }
        System.exit(0);
    }

    void serve() throws IOException {
        boolean goesOn = true;
        while (goesOn) {
            Request request = client.readRequest();
            goesOn = !request.command().equals("disconnect");
            answer(request);
        }
    }

    private void answer(Request request) throws IOException {
        Map<String, Object> body;
        try {
            body = handle(request);
        } catch (DebuggerException problem) {
            client.sendFailure(request, problem.getMessage());
            return;
        } catch (IOException problem) {
            client.sendFailure(request, problem.toString());  // of a file, or of another JVM
            return;
        } catch (VMDisconnectedException over) {
            // The end comes first: what let the program run has succeeded then.
            if (target != null) {
                target.end();
            }
            client.sendFailure(request, "the program has ended");
            return;
        } catch (ObjectCollectedException gone) {
            client.sendFailure(request, "the object was collected meanwhile");
            return;
        } catch (IllegalThreadStateException running) {
            client.sendFailure(request, "the thread is running");
            return;
        } catch (RuntimeException problem) {
            // Of the JDI, for what the JVM refuses; one request must not end the session.
            client.sendFailure(request, problem.toString());
            return;
        }
        if (body != null) {
            client.sendResponse(request, body);
        }
    }

    /** Returns the body of the response; null for a request that is answered later. */
    private Map<String, Object> handle(Request request) throws DebuggerException, IOException {
        switch (request.command()) {
            case "initialize":
                return capabilities();
            case "launch", "attach":
                begin(request);
                return null;
            case "disconnect":
                if (target != null) {
                    target.disconnect(request.isTrue("terminateDebuggee"));
                }
                return Client.fields();
            case "configurationDone":
                require().finishConfiguration(pausesAtStart);
                return Client.fields();
            case "setBreakpoints":
                String file = (String) Client.asMap(request.arguments().get("source")).get("path");
                return breakpoints(require().breakpoints().setLines(file, request.maps("breakpoints")));
            case "setFunctionBreakpoints":
                return breakpoints(require().breakpoints().setFunctions(request.maps("breakpoints")));
            case "setExceptionBreakpoints":
                require().breakpoints().setExceptions(
                        request.words("filters"), request.maps("filterOptions"));
                return Client.fields();
            case "setDataBreakpoints":
                return breakpoints(require().breakpoints().setFields(request.maps("breakpoints")));
            case "dataBreakpointInfo":
                return nameField(request);
            case "breakpointLocations":
                return codeLines(request);
            default:
                return handleStopped(request);
        }
    }

    private Map<String, Object> handleStopped(Request request) throws DebuggerException {
        switch (request.command()) {
            case "continue":
                require().steps().forget();
                require().resume();
                return Client.fields("allThreadsContinued", true);
            case "next":
                return step(request, StepRequest.STEP_OVER);
            case "stepIn":
                return step(request, StepRequest.STEP_INTO);
            case "stepOut":
                return step(request, StepRequest.STEP_OUT);
            case "pause":
                require().pause();
                return Client.fields();
            case "threads":
                return listThreads();
            case "stackTrace":
                return readStack(request);
            case "scopes":
                return listScopes(position(request));
            case "variables":
                return Client.fields("variables", listVariables(request));
            case "evaluate":
                return evaluate(request, request.text("expression"));
            case "setExpression":
                return evaluate(request,
                        request.text("expression") + " = (" + request.text("value") + ")");
            case "exceptionInfo":
                return describeException();
            default:
                throw new DebuggerException("the request " + request.command() + " is not known");
        }
    }

    private Target require() throws DebuggerException {
        if (target == null) {
            throw new DebuggerException("there is no program yet");
        }
        return target;
    }

    private static Map<String, Object> capabilities() {
        return Client.fields(
                "supportsConfigurationDoneRequest", true,
                "supportsFunctionBreakpoints", true,
                "supportsConditionalBreakpoints", true,
                "supportsHitConditionalBreakpoints", true,
                "supportsLogPoints", true,
                "supportsSetExpression", true,
                "supportsExceptionInfoRequest", true,
                "supportsExceptionFilterOptions", true,
                "supportsDataBreakpoints", true,
                "supportsBreakpointLocationsRequest", true,
                "supportsDelayedStackTraceLoading", true,
                "supportTerminateDebuggee", true,
                "exceptionBreakpointFilters", List.of(
                        Client.fields("filter", "raised", "label", "all exceptions",
                                "supportsCondition", true),
                        Client.fields("filter", "uncaught", "label", "uncaught exceptions")));
    }

    // -- the program -------------------------------------------------------------------------------

    /** Begins the program in a thread of its own: the client's answers are read meanwhile. */
    private void begin(Request request) {
        Thread beginning = new Thread(() -> {
            String failure = null;
            try {
                connect(request);
            } catch (DebuggerException problem) {
                failure = problem.getMessage();
            } catch (IOException | InterruptedException | RuntimeException problem) {
                failure = problem.toString();  // without an answer the client would wait
            }
            try {
                if (failure != null) {
                    client.sendFailure(request, failure);
                } else {
                    client.sendEvent("initialized", Client.fields());
                    client.sendResponse(request, Client.fields());
                }
            } catch (IOException gone) {
                // Whoever reads requests sees the end of the connection.
            }
        }, "begin");
        beginning.setDaemon(true);
        beginning.start();
    }

    private void connect(Request request)
            throws DebuggerException, IOException, InterruptedException {
        request.words("folders").forEach(folder -> sources.addFolder(Path.of(folder)));
        if (request.text("source") != null) {
            SourceCompiler.compile(Path.of(request.text("source")),
                    Path.of(request.text("classes")), request.words("options"));
        }
        boolean isLaunch = request.command().equals("launch");
        Connector.Connection connection = isLaunch ? Connector.launch(client, request)
                : new Connector.Connection(
                        connected != null ? connected : Connector.attach(request), null);
        VirtualMachine vm = connection.vm();
        boolean isOurs = isLaunch && connection.starter() == null;
        if (!isOurs && vm instanceof PathSearchingVirtualMachine searching) {
            Path base = Path.of(searching.baseDirectory());
            searching.classPath().forEach(one -> sources.addFolder(base.resolve(one)));
        }
        sources.addClassPath(vm);
        pausesAtStart = request.isTrue("pause");
        target = new Target(client, vm, sources, request, connection.starter());
    }

    private Map<String, Object> step(Request request, int how) throws DebuggerException {
        ThreadReference thread = require().threads().find(request.number("threadId", 0));
        require().requireStop();
        require().steps().begin(thread, how);
        int levels = request.number("reports", 0);
        require().setReader(levels == 0 ? null : stopped -> answerAhead(stopped, levels));
        require().resume();
        return Client.fields();
    }

    private Map<String, Object> breakpoints(List<Map<String, Object>> some) {
        return Client.fields("breakpoints", some);
    }

    private Map<String, Object> codeLines(Request request) throws DebuggerException {
        String file = (String) Client.asMap(request.arguments().get("source")).get("path");
        int first = request.number("line", 1);
        int last = request.number("endLine", first);
        List<Map<String, Object>> lines = new ArrayList<>();
        for (int line : require().breakpoints().codeLines(file)) {
            if (line >= first && line <= last) {
                lines.add(Client.fields("line", line));
            }
        }
        return breakpoints(lines);
    }

    private Map<String, Object> nameField(Request request) throws DebuggerException {
        FramePosition position = position(request);
        if (position == null) {
            throw new DebuggerException("a field is watched at a stop");
        }
        String name = request.text("name");
        FieldPosition field = require().evaluator(position).locateField(name);
        return Client.fields("dataId", require().breakpoints().nameField(field),
                "description", name, "accessTypes", List.of("read", "write", "readWrite"));
    }

    private Map<String, Object> describeException() throws DebuggerException {
        Stop stop = require().requireStop();
        if (stop.thrown() == null) {
            throw new DebuggerException("it did not stop at an exception");
        }
        Map<String, Object> details =
                Throwables.describe(
                require().calls(), stop.thread(), stop.thrown(), require().thrownAt());
        return Client.fields("exceptionId", details.get("fullTypeName"),
                "description", details.get("message"), "breakMode", "always", "details", details);
    }

    // -- threads and frames ------------------------------------------------------------------------

    private Map<String, Object> listThreads() throws DebuggerException {
        List<Map<String, Object>> found = new ArrayList<>();
        for (ThreadReference thread : require().threads().list()) {
            try {
                found.add(Client.fields("id", require().threads().number(thread),
                        "name", Threads.name(thread)));
            } catch (ObjectCollectedException ended) {
                // It has ended since it was listed.
            }
        }
        return Client.fields("threads", found);
    }

    private Map<String, Object> readStack(Request request) throws DebuggerException {
        return readStack(require().threads().find(request.number("threadId", 0)),
                request.number("startFrame", 0), request.number("levels", 0));
    }

    /** Answers the requests that a report of a stop makes: stack, scopes and variables. */
    private List<Map<String, Object>> answerAhead(ThreadReference thread, int levels) {
        List<Map<String, Object>> answers = new ArrayList<>();
        try {
            Map<String, Object> stack = readStack(thread, 0, levels);
            addAnswer(answers, "stackTrace", stack, "threadId",
                    require().threads().number(thread), "startFrame", 0, "levels", levels);
            Object frame = ((List<?>) stack.get("stackFrames")).get(0);
            FramePosition position = new FramePosition(thread, 0);
            Map<String, Object> scopes = listScopes(position);
            addAnswer(answers, "scopes", scopes, "frameId", Client.asMap(frame).get("id"));
            FrameValues values = FrameValues.read(position);
            for (Object one : (List<?>) scopes.get("scopes")) {
                int reference = (Integer) Client.asMap(one).get("variablesReference");
                FrameScope scope = require().handles().find(reference, FrameScope.class);
                Map<String, Object> variables = Client.fields(
                        "variables", describeScope(values, scope.isArguments(), thread));
                addAnswer(answers, "variables", variables, "variablesReference", reference);
            }
        } catch (DebuggerException | RuntimeException problem) {
            // The client's own request for the rest gets the same answer, and its message.
        }
        return answers;
    }

    private static void addAnswer(List<Map<String, Object>> answers, String command, Object body,
            Object... arguments) {
        answers.add(Client.fields(
                "command", command, "arguments", Client.fields(arguments), "body", body));
    }

    private Map<String, Object> readStack(ThreadReference thread, int from, int levels)
            throws DebuggerException {
        Stop stop = require().requireStop();
        // Asking for it makes the frames invalid.
        Location thrownAt = from == 0 && thread.equals(stop.thread()) ? require().thrownAt() : null;
        try {
            // A stack as small as the last one comes whole, in one round trip instead of two.
            List<StackFrame> whole = from == 0 && lastTotal < levels ? thread.frames() : null;
            int total = whole != null ? whole.size() : thread.frameCount();
            lastTotal = total;
            int start = Math.min(from, total);
            int count = Math.min(levels > 0 ? levels : PAGE_MAX, total - start);
            List<Map<String, Object>> frames = new ArrayList<>();
            int depth = start;
            for (StackFrame frame : whole != null ? whole.subList(start, start + count)
                    : count > 0 ? thread.frames(start, count) : List.<StackFrame>of()) {
                Location place = depth == 0 && thrownAt != null ? thrownAt : frame.location();
                frames.add(describeFrame(new FramePosition(thread, depth++), place));
            }
            return Client.fields("stackFrames", frames, "totalFrames", total);
        } catch (IncompatibleThreadStateException running) {
            throw new DebuggerException("the thread is running");
        }
    }

    private Map<String, Object> describeFrame(FramePosition position, Location location)
            throws DebuggerException {
        Sources.Shown shown = sources.show(location);
        boolean isLibrary = Names.isLibrary(location.declaringType().name())
                || (shown.file() != null && sources.isLibrary(shown.file()));
        return Client.fields(
                "id", require().handles().add(position),
                "name", Names.function(location),
                "line", shown.line(),
                "column", 0,
                "source", shown.name() == null ? null : Client.fields("name", shown.name(),
                        "path", shown.file() == null ? null : shown.file().toString()),
                "presentationHint", isLibrary ? "subtle" : null);
    }

    private FramePosition position(Request request) throws DebuggerException {
        int number = request.number("frameId", 0);
        if (number != 0) {
            return require().handles().find(number, FramePosition.class);
        }
        Stop stop = require().stop();
        return stop == null ? null : new FramePosition(stop.thread(), 0);
    }

    // -- values ------------------------------------------------------------------------------------

    private Map<String, Object> listScopes(FramePosition position) throws DebuggerException {
        List<Map<String, Object>> scopes = new ArrayList<>();
        for (boolean isArguments : new boolean[] {true, false}) {
            scopes.add(Client.fields(
                    "name", isArguments ? "Arguments" : "Locals",
                    "presentationHint", isArguments ? "arguments" : "locals",
                    "variablesReference",
                    require().handles().add(new FrameScope(position, isArguments)),
                    "expensive", false));
        }
        return Client.fields("scopes", scopes);
    }

    private List<Map<String, Object>> listVariables(Request request) throws DebuggerException {
        Object parent = require().handles().find(
                request.number("variablesReference", 0), Object.class);
        if (parent instanceof FrameScope scope) {
            FramePosition position = scope.position();
            return describeScope(
                    FrameValues.read(position), scope.isArguments(), position.thread());
        }
        Part part = (Part) parent;
        int start = request.number("start", 0);
        int count = request.number("count", 0);
        return listParts(part, start, count > 0 ? Math.min(count, PAGE_MAX) : PAGE_MAX);
    }

    private List<Map<String, Object>> describeScope(
            FrameValues values, boolean isArguments, ThreadReference thread)
            throws DebuggerException {
        List<Map<String, Object>> found = new ArrayList<>();
        for (FrameValues.Variable one : isArguments ? values.arguments() : values.locals()) {
            found.add(describe(one.name(), one.value(), one.expression(), thread));
        }
        return found;
    }

    private List<Map<String, Object>> listParts(Part part, int start, int count)
            throws DebuggerException {
        ObjectReference object = (ObjectReference) part.value();
        String base = part.expression();
        List<Map<String, Object>> found = new ArrayList<>();
        if (object instanceof ArrayReference || Containers.size(object) >= 0) {
            if (!(object instanceof ArrayReference) && Containers.isMap(object)) {
                return listEntries(part, start, count);
            }
            List<Value> items = object instanceof ArrayReference array
                    ? Values.items(array, start, count)
                    : Containers.readItems(object, start, count);
            for (int index = 0; index < items.size(); index++) {
                String name = "[" + (start + index) + "]";
                found.add(describe(name, items.get(index), base == null ? null : base + name,
                        part.thread()));
            }
            return found;
        }
        List<Field> fields = Values.instanceFields(object.referenceType());
        Map<Field, Value> read = object.getValues(fields);
        for (Field field : fields) {
            found.add(describe(field.name(), read.get(field),
                    base == null ? null : base + "." + field.name(), part.thread()));
        }
        return found.subList(Math.min(start, found.size()),
                (int) Math.min(found.size(), (long) start + count));
    }

    private List<Map<String, Object>> listEntries(Part part, int start, int count)
            throws DebuggerException {
        List<Map<String, Object>> found = new ArrayList<>();
        List<Containers.Entry> entries =
                Containers.entries((ObjectReference) part.value(), start + count);
        int end = (int) Math.min(entries.size(), (long) start + count);
        for (Containers.Entry entry : entries.subList(Math.min(start, end), end)) {
            String name = "[" + require().values().format(entry.key(), part.thread()) + "]";
            found.add(describe(name, entry.value(), null, part.thread()));
        }
        return found;
    }

    private Map<String, Object> describe(
            String name, Value value, String expression, ThreadReference thread)
            throws DebuggerException {
        Map<String, Object> described = describeValue(value, expression, thread);
        Map<String, Object> result = Client.fields("name", name);
        result.putAll(described);
        result.put("value", described.get("result"));
        result.remove("result");
        return result;
    }

    private Map<String, Object> describeValue(
            Value value, String expression, ThreadReference thread) throws DebuggerException {
        int reference = Values.hasParts(value)
                ? require().handles().add(new Part(value, expression, thread)) : 0;
        return Client.fields(
                "result", require().values().format(value, thread),
                "type", Values.typeName(value),
                "variablesReference", reference,
                "indexedVariables", reference == 0 ? null : Values.indexed(value),
                "evaluateName", expression);
    }

    private Map<String, Object> evaluate(Request request, String expression)
            throws DebuggerException {
        require().requireStop();
        FramePosition position = position(request);
        Value value = require().evaluator(position).evaluate(expression);
        Map<String, Object> described = describeValue(value, expression, position.thread());
        if (request.command().equals("setExpression")) {
            described.put("value", described.get("result"));
        }
        return described;
    }
}
