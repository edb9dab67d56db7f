package debugger.counting;

import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Counts in a JVM how often the lines of the program's own classes run; begun by `-javaagent`.
 *
 * Own are classes in folders, in the jars that the order names, and in a jar's `classes/`.
 */
public final class CountingAgent implements ClassFileTransformer {
    private final CounterTable table;
    private final Set<String> jars;
    private final List<WindowEdge> edges;
    private final List<CountedClass> classes = new ArrayList<>();
    private int omitted;

    private CountingAgent(CounterTable table, Set<String> jars, List<WindowEdge> edges) {
        this.table = table;
        this.jars = jars;
        this.edges = edges;
    }

    /** Begins to count; the argument is the folder of the order and of what is written. */
    public static void premain(String folder, Instrumentation jvm) throws Exception {
        Path records = Path.of(folder);
        Set<String> jars = new HashSet<>(Files.readAllLines(records.resolve("jars")));
        List<WindowEdge> edges = Files.readAllLines(records.resolve("window")).stream()
                .map(WindowEdge::new).collect(Collectors.toList());
        CounterTable table = CounterTable.define(jvm);
        table.followStarts(new ChildJvms(findAgent(), folder));
        CountingAgent agent = new CountingAgent(table, jars, edges);
        jvm.addTransformer(agent);
        // Of JDK 21 the class of the environment loads the one that starts processes.
        CountReport report = new CountReport(records);
        report.writeBegin(Files.readAllLines(records.resolve("variables")));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> agent.writeCounts(report),
                "debugger-counts"));
    }

    /** Returns the jar of this agent. */
    private static Path findAgent() throws URISyntaxException {
        return Path.of(CountingAgent.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    private synchronized void writeCounts(CountReport report) {
        report.writeCounts(classes, table, omitted);
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined,
            ProtectionDomain domain, byte[] file) {
        if (StartRewriter.STARTER.equals(name) && redefined == null) {
            return followStarts(file);
        }
        // A class that another agent changes later has its counters already.
        String location = redefined == null ? findLocation(domain) : null;
        if (location == null) {
            return null;
        }
        try {
            return count(name, location, file);
        } catch (IOException | RuntimeException notAsSpecified) {
            return null;  // the JVM says itself what is wrong with it
        }
    }

    private static byte[] followStarts(byte[] file) {
        try {
            return StartRewriter.rewrite(file);
        } catch (IOException | RuntimeException unknown) {
            return null;  // what it starts is not counted
        }
    }

    private synchronized byte[] count(String name, String location, byte[] file)
            throws IOException {
        if (classes.size() == Counters.CLASSES_MAX) {
            omitted++;
            return null;
        }
        CountedClass counted = new CountedClass(classes.size(), name, location);
        byte[] rewritten = CountingRewriter.rewrite(file, counted, edges);
        if (rewritten == null) {
            return null;
        }
        table.add(counted.number, counted.slots);
        classes.add(counted);
        return rewritten;
    }

    /** Returns where a class of the program's own is from; null for any other class. */
    private String findLocation(ProtectionDomain domain) {
        CodeSource source = domain == null ? null : domain.getCodeSource();
        URL url = source == null ? null : source.getLocation();
        if (url == null) {
            return null;
        }
        String text = url.toString();
        // Spring Boot's jars have the program's own classes in BOOT-INF/classes!/.
        boolean isFolder = text.startsWith("file:") && text.endsWith("/");
        return isFolder || text.endsWith("classes!/") || text.endsWith("classes/")
                || jars.contains(url.getPath()) ? text : null;
    }
}
