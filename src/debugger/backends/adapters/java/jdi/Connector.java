package debugger.jdi;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector.Argument;
import com.sun.jdi.connect.IllegalConnectorArgumentsException;
import com.sun.jdi.connect.ListeningConnector;
import com.sun.jdi.connect.TransportTimeoutException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/** Connects to the JVM that is debugged: one that we start, or one that runs. */
final class Connector {
    private static final int ACCEPT_MS = 200;
    private static final int TURNS = 300;
    private static final String CONNECT_MS = "5000";

    private Connector() {}

    /** Starts a program by the client (DAP: runInTerminal); it connects to us. */
    static VirtualMachine launch(Client client, Request request)
            throws DebuggerException, IOException, InterruptedException {
        ListeningConnector connector = Bootstrap.virtualMachineManager().listeningConnectors().stream()
                .filter(one -> one.name().equals("com.sun.jdi.SocketListen")).findFirst().orElseThrow();
        Map<String, Argument> arguments = connector.defaultArguments();
        arguments.get("localAddress").setValue("127.0.0.1");
        arguments.get("timeout").setValue(String.valueOf(ACCEPT_MS));
        try {
            String address = connector.startListening(arguments);
            try {
                List<String> words = new ArrayList<>(request.words("command"));
                // The JVM dials us: there is no port that another process could take in between.
                words.add(1, "-agentlib:jdwp=transport=dt_socket,server=n,suspend=y,address=127.0.0.1"
                        + address.substring(address.lastIndexOf(':')));
                long pid = run(client, words, request.text("cwd"));
                return accept(connector, arguments, pid);
            } finally {
                connector.stopListening(arguments);
            }
        } catch (IllegalConnectorArgumentsException problem) {
            throw new DebuggerException(problem.getMessage());
        }
    }

    private static long run(Client client, List<String> words, String folder)
            throws DebuggerException, IOException, InterruptedException {
        try {
            Map<String, Object> answer = client.sendRequest("runInTerminal", Client.fields(
                    "args", words, "cwd", folder, "kind", "integrated")).get();
            if (!Boolean.TRUE.equals(answer.get("success"))) {
                throw new DebuggerException(String.valueOf(answer.get("message")));
            }
            return ((Number) Client.asMap(answer.get("body")).get("processId")).longValue();
        } catch (ExecutionException failed) {
            throw new DebuggerException(failed.getMessage());
        }
    }

    private static VirtualMachine accept(
            ListeningConnector connector, Map<String, Argument> arguments, long pid)
            throws DebuggerException, IOException, IllegalConnectorArgumentsException {
        for (int turn = 0; turn < TURNS; turn++) {
            try {
                return connector.accept(arguments);
            } catch (TransportTimeoutException notYet) {
                if (ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty()) {
                    throw new DebuggerException("the JVM ended before it ran the program");
                }
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
            return connector.attach(arguments);
        } catch (IOException | IllegalConnectorArgumentsException problem) {
            throw new DebuggerException("cannot connect: " + problem.getMessage());
        }
    }
}
