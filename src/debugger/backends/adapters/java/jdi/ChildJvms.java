package debugger.jdi;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.ArrayType;
import com.sun.jdi.LocalVariable;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.request.BreakpointRequest;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * Debugs the JVMs that the program starts, each through a connection of its own.
 *
 * 1. A breakpoint of ours is in ProcessImpl.start, which each start of a process passes (JDK 8 to 25).
 * 2. Where the program to start is `java`, the list of words gets the option that makes it dial us. It
 *    is the method's own copy: the program's list, its environment and its output stay as they are.
 * 3. The child waits in its first instruction until the client has opened a session for it
 *    (DAP: startDebugging), which connects to a port of ours; if none comes, it runs free.
 */
final class ChildJvms {
    private static final String STARTER = "java.lang.ProcessImpl";
    private static final Object OWNER = "debugger.child";
    private static final int CHILDREN_MAX = 200;  // of one program; later ones run free
    private static final int CLIENT_MS = 20_000;
    private static final int TURNS = 100;  // 20 s: a loaded machine starts a JVM slowly

    private final VirtualMachine vm;
    private final Client client;
    private final Request begun;  // how the program's own session began
    private int count;

    ChildJvms(VirtualMachine vm, Client client, Request begun) {
        this.vm = vm;
        this.client = client;
        this.begun = begun;
    }

    /** Begins to follow the starts of processes. */
    void begin() {
        ClassPrepareRequest request = vm.eventRequestManager().createClassPrepareRequest();
        request.addClassFilter(STARTER);
        request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        request.enable();
        vm.classesByName(STARTER).forEach(this::bindClass);
    }

    /** Sets the breakpoint, where a class is the one that starts processes. */
    void bindClass(ReferenceType type) {
        if (!type.name().equals(STARTER) || !type.isPrepared()) {
            return;
        }
        for (Method method : type.methodsByName("start")) {
            if (method.isStatic() && method.argumentTypeNames().get(0).equals("java.lang.String[]")) {
                BreakpointRequest request =
                        vm.eventRequestManager().createBreakpointRequest(method.location());
                request.putProperty(OWNER, OWNER);
                request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
                request.enable();
            }
        }
    }

    boolean isStart(BreakpointEvent event) {
        return event.request().getProperty(OWNER) == OWNER;
    }

    /** Makes a JVM that is about to be started dial us; anything else is started as it is. */
    void prepareChild(ThreadReference thread) {
        JvmListener listener = null;
        try {
            StackFrame frame = thread.frame(0);
            List<Value> words = ((ArrayReference) frame.getArgumentValues().get(0)).getValues();
            if (!isJvm(words) || count >= CHILDREN_MAX) {
                return;
            }
            String program = ((StringReference) words.get(0)).value();
            if (lacksAgent(program)) {
                client.sendOutput("console", "a JVM that the program starts is not debugged: "
                        + program + " has no module jdk.jdwp.agent\n");
                return;
            }
            count++;
            listener = new JvmListener();
            List<Value> changed = new ArrayList<>(words);
            changed.add(1, vm.mirrorOf(listener.option()));
            ArrayType type = (ArrayType) vm.classesByName("java.lang.String[]").get(0);
            ArrayReference array = type.newInstance(changed.size());
            array.setValues(changed);
            frame.setValue(firstArgument(frame.location(), type), array);
            JvmListener dialled = listener;
            Thread follower = new Thread(() -> follow(dialled), "child JVM");
            follower.setDaemon(true);
            follower.start();
        } catch (Exception problem) {
            // The child runs free; the program must not notice.
            if (listener != null) {
                listener.close();
            }
            client.sendOutput("console",
                    "a JVM that the program starts is not debugged: " + problem + "\n");
        }
    }

    private static boolean isJvm(List<Value> words) {
        if (words.isEmpty() || !(words.get(0) instanceof StringReference program)) {
            return false;
        }
        Path name = Path.of(program.value()).getFileName();
        return name != null && name.toString().equals("java") && words.stream().noneMatch(
                word -> word instanceof StringReference text && isDebugOption(text.value()));
    }

    /** Tells whether a program is surely a JVM that would refuse the option; a script may be any. */
    private static boolean lacksAgent(String program) {
        Stream<String> folders = program.contains("/") ? Stream.of("")
                : Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":"));
        Path found = folders.map(one -> Path.of(one, program)).filter(Files::isExecutable)
                .findFirst().orElse(null);
        try {
            Path libraries = found == null ? null : found.toRealPath().resolveSibling("../lib");
            return libraries != null && Files.exists(libraries.resolve("libjava.so"))
                    && !Files.exists(libraries.resolve("libjdwp.so"));
        } catch (IOException unknown) {
            return false;
        }
    }

    private static boolean isDebugOption(String word) {
        return word.startsWith("-agentlib:jdwp") || word.startsWith("-Xrunjdwp");
    }

    /**
     * Returns the variable of a static method's first argument.
     *
     * The JDK's classes have no table of variables, and the JDI sets only those of a table.
     */
    private static LocalVariable firstArgument(Location location, ArrayType type)
            throws ReflectiveOperationException {
        Method method = location.method();
        Constructor<?> constructor =
                Class.forName("com.sun.tools.jdi.LocalVariableImpl").getDeclaredConstructors()[0];
        constructor.setAccessible(true);
        Location last = method.locationOfCodeIndex(method.bytecodes().length - 1L);
        return (LocalVariable) constructor.newInstance(location.virtualMachine(), method, 0,
                method.location(), last == null ? location : last, "command", type.signature(), null);
    }

    /** Waits for a child, and opens a session of the client's for it. */
    private void follow(JvmListener listener) {
        VirtualMachine child = null;
        Long pid = null;
        try (listener) {
            for (int turn = 0; turn < TURNS && child == null; turn++) {
                child = listener.accept();
            }
            pid = child == null ? null : listener.findPid();
        } catch (IOException never) {
            // It was not started, or ended at once.
        }
        if (child == null) {
            return;
        }
        try (ServerSocket door = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            door.setSoTimeout(CLIENT_MS);
            Map<String, Object> address =
                    Client.fields("host", "127.0.0.1", "port", door.getLocalPort());
            Map<String, Object> answer = client.sendRequest("startDebugging", Client.fields(
                    "request", "attach",
                    "configuration", Client.fields("subProcessId", pid, "connect", address,
                            "folders", begun.words("folders"), "history", begun.text("history"),
                            "record", begun.words("record")))).get(CLIENT_MS, TimeUnit.MILLISECONDS);
            if (Boolean.TRUE.equals(answer.get("success"))) {
                serve(door.accept(), child);
            }
        } catch (IOException | ExecutionException | TimeoutException | InterruptedException gone) {
            // The client has gone, or does not want it.
        } finally {
            Target.release(child);
        }
    }

    private static void serve(Socket connection, VirtualMachine child) throws IOException {
        try (connection) {
            new Adapter(new Client(connection.getInputStream(), connection.getOutputStream()), child)
                    .serve();
        }
    }
}
