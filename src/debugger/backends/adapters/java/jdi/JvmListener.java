package debugger.jdi;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector.Argument;
import com.sun.jdi.connect.IllegalConnectorArgumentsException;
import com.sun.jdi.connect.ListeningConnector;
import com.sun.jdi.connect.TransportTimeoutException;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * A port of ours that JVMs dial which are started with an option.
 *
 * The JVM dials us: there is no port that another process could take in between.
 */
final class JvmListener implements AutoCloseable {
    private static final int ACCEPT_MS = 200;

    private final ListeningConnector connector;
    private final Map<String, Argument> arguments;
    private final String option;

    JvmListener() throws IOException {
        connector = Bootstrap.virtualMachineManager().listeningConnectors().stream()
                .filter(one -> one.name().equals("com.sun.jdi.SocketListen")).findFirst().orElseThrow();
        arguments = connector.defaultArguments();
        arguments.get("localAddress").setValue("127.0.0.1");
        arguments.get("timeout").setValue(String.valueOf(ACCEPT_MS));
        try {
            String address = connector.startListening(arguments);
            option = "-agentlib:jdwp=transport=dt_socket,server=n,suspend=y,address=127.0.0.1"
                    + address.substring(address.lastIndexOf(':'));
        } catch (IllegalConnectorArgumentsException problem) {
            throw new IOException(problem.getMessage());
        }
    }

    /** Returns the option of a JVM that is to dial us. */
    String option() {
        return option;
    }

    /** Returns a JVM that dials us within a moment; null if none does. */
    VirtualMachine accept() throws IOException {
        try {
            return connector.accept(arguments);
        } catch (TransportTimeoutException notYet) {
            return null;
        } catch (IllegalConnectorArgumentsException problem) {
            throw new IOException(problem.getMessage());
        }
    }

    /** Returns the process that was given the option as a word of its own; null if there is none. */
    Long findPid() {
        return ProcessHandle.allProcesses().filter(one -> one.info().arguments()
                        .filter(words -> List.of(words).contains(option)).isPresent())
                .findFirst().map(ProcessHandle::pid).orElse(null);
    }

    @Override
    public void close() {
        try {
            connector.stopListening(arguments);
        } catch (IOException | IllegalConnectorArgumentsException notListening) {
            // That is what was wanted.
        }
    }
}
