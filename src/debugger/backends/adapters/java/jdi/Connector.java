package debugger.jdi;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector.Argument;
import com.sun.jdi.connect.IllegalConnectorArgumentsException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Connects to the JVM that is debugged: one that we start, or one that runs. */
final class Connector {
    /** A connected JVM; `starter` is the build tool that started it, null where we did. */
    record Connection(VirtualMachine vm, ProcessHandle starter) {}

    private static final int TURNS = 450;  // 90 s: a build tool may compile first
    private static final String CONNECT_MS = "5000";
    private static final int HANDSHAKE_S = 8;
    private static final int JCMD_S = 5;
    /** Stands in the words of a command for the option that makes a JVM dial us. */
    private static final String OPTION = "{jdwp}";

    private Connector() {}

    /** Starts a program by the client (DAP: runInTerminal); it, or a JVM that it starts, dials us. */
    static Connection launch(Client client, Request request)
            throws DebuggerException, IOException, InterruptedException {
        JvmListener listener = new JvmListener();
        boolean isKept = false;
        try {
            List<String> words = new ArrayList<>(request.words("command"));
            boolean isByTool = words.stream().anyMatch(word -> word.contains(OPTION));
            if (isByTool) {
                words.replaceAll(word -> word.replace(OPTION, listener.option()));
            } else {
                words.add(1, listener.option());
            }
            long pid = run(client, words, request);
            VirtualMachine vm = accept(listener, pid, isByTool);
            if (!isByTool) {
                return new Connection(vm, null);
            }
            Long found = listener.findPid();
            if (found != null) {
                client.sendEvent("process",
                        Client.fields("name", "java", "systemProcessId", found));
            }
            ProcessHandle starter = ProcessHandle.of(pid).orElse(null);
            releaseOthers(listener, starter);
            isKept = true;
            return new Connection(vm, starter);
        } finally {
            if (!isKept) {
                listener.close();
            }
        }
    }

    /** Lets further JVMs of a build tool run: one is debugged, and all have the same options. */
    private static void releaseOthers(JvmListener listener, ProcessHandle starter) {
        Thread thread = new Thread(() -> {
            try (listener) {
                while (starter != null && starter.isAlive()) {
                    VirtualMachine other = listener.accept();
                    if (other != null) {
                        Target.release(other);
                    }
                }
            } catch (IOException closed) {
                // Nobody can dial any more.
            }
        }, "other JVMs");
        thread.setDaemon(true);
        thread.start();
    }

    private static long run(Client client, List<String> words, Request request)
            throws DebuggerException, IOException, InterruptedException {
        try {
            Map<String, Object> answer = client.sendRequest("runInTerminal", Client.fields(
                    "args", words, "cwd", request.text("cwd"), "kind", "integrated",
                    "env", request.arguments().get("env"))).get();
            if (!Boolean.TRUE.equals(answer.get("success"))) {
                throw new DebuggerException(String.valueOf(answer.get("message")));
            }
            return ((Number) Client.asMap(answer.get("body")).get("processId")).longValue();
        } catch (ExecutionException failed) {
            throw new DebuggerException(failed.getMessage());
        }
    }

    private static VirtualMachine accept(JvmListener listener, long pid, boolean isByTool)
            throws DebuggerException, IOException {
        for (int turn = 0; turn < TURNS; turn++) {
            VirtualMachine vm = listener.accept();
            if (vm != null) {
                return vm;
            }
            if (ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty()) {
                throw new DebuggerException(isByTool
                        ? "the build has ended, and no JVM of a test or a program was started"
                        : "the JVM ended before it ran the program");
            }
        }
        throw new DebuggerException("the JVM did not connect to the debugger");
    }

    /** Connects to a JVM that listens at a port, or that listens and is known by its pid. */
    static VirtualMachine attach(Request request) throws DebuggerException {
        String pid = request.text("pid");
        String name = pid != null ? "com.sun.jdi.ProcessAttach" : "com.sun.jdi.SocketAttach";
        AttachingConnector connector = Bootstrap.virtualMachineManager().attachingConnectors().stream()
                .filter(one -> one.name().equals(name)).findFirst().orElseThrow();
        Map<String, Argument> arguments = connector.defaultArguments();
        if (pid != null) {
            arguments.get("pid").setValue(pid);
        } else {
            arguments.get("hostname").setValue(request.text("host"));
            arguments.get("port").setValue(String.valueOf(request.number("port", 0)));
        }
        arguments.get("timeout").setValue(CONNECT_MS);
        try {
            return attach(connector, arguments);
        } catch (IOException | IllegalConnectorArgumentsException problem) {
            try {
                if (pid != null && startListening(pid)) {
                    return attach(connector, arguments);
                }
            } catch (IOException | IllegalConnectorArgumentsException stillNot) {
                // The first problem says more.
            }
            String where = pid != null ? " to process " + pid : "";
            throw new DebuggerException("cannot connect" + where + ": " + problem.getMessage());
        }
    }

    /**
     * Attaches within a limit: the connector's own time-out is for the connection, and a server that
     * is no JVM may never answer the handshake.
     */
    private static VirtualMachine attach(AttachingConnector connector, Map<String, Argument> arguments)
            throws DebuggerException, IOException, IllegalConnectorArgumentsException {
        FutureTask<VirtualMachine> task = new FutureTask<>(() -> connector.attach(arguments));
        Thread thread = new Thread(task, "attach");
        thread.setDaemon(true);
        thread.start();
        try {
            return task.get(HANDSHAKE_S, TimeUnit.SECONDS);
        } catch (TimeoutException silent) {
            throw new DebuggerException(
                    "no answer as of a JVM (JDWP-Handshake) within " + HANDSHAKE_S + " s");
        } catch (InterruptedException ended) {
            throw new DebuggerException("the debugger ends");
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof IOException problem) {
                throw problem;
            } else if (failed.getCause() instanceof IllegalConnectorArgumentsException problem) {
                throw problem;
            }
            throw new DebuggerException(String.valueOf(failed.getCause()));
        }
    }

    /** Lets a JVM listen whose option has `onjcmd=y`; false for another, which cannot be made to. */
    private static boolean startListening(String pid) throws IOException {
        String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        Process process = new ProcessBuilder(jcmd, pid, "VM.start_java_debugging")
                .redirectErrorStream(true).start();
        try {
            if (!process.waitFor(JCMD_S, TimeUnit.SECONDS)) {
                return false;
            }
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                    .contains("Debugging has been started");
        } catch (InterruptedException ended) {
            return false;
        } finally {
            process.destroyForcibly();
        }
    }
}
