package debugger.counting;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/** Writes what a JVM counted, one fact a line, in words that are parted by tabs. */
final class CountReport {
    private final Path folder;
    private final long pid = ProcessHandle.current().pid();

    CountReport(Path folder) {
        this.folder = folder;
    }

    /** Writes that this JVM has begun to count, and some variables of its environment. */
    void writeBegin(List<String> variables) throws IOException {
        long parent = ProcessHandle.current().parent().map(ProcessHandle::pid).orElse(0L);
        String command = System.getProperty("sun.java.command", "");
        StringBuilder text = new StringBuilder().append(pid).append('\t').append(parent)
                .append('\t').append(System.currentTimeMillis()).append('\t').append(command);
        for (String name : variables) {
            if (System.getenv(name) != null) {
                text.append('\n').append(name).append('=').append(System.getenv(name));
            }
        }
        Files.writeString(folder.resolve("begun-" + pid), text);
    }

    void writeCounts(List<CountedClass> classes, CounterTable table, int omitted) {
        Path draft = folder.resolve("draft-" + pid);
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(draft))) {
            for (CountedClass one : classes) {
                writeClass(out, one, table.sum(one.number));
            }
            out.println("window\t" + table.edges());
            if (omitted > 0) {
                out.println("omitted\t" + omitted);
            }
        } catch (IOException notWritable) {
            throw new UncheckedIOException(notWritable);
        }
        try {
            // It appears as a whole: a JVM that is killed meanwhile has written nothing.
            Files.move(draft, folder.resolve("counts-" + pid), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException notWritable) {
            throw new UncheckedIOException(notWritable);
        }
    }

    private static void writeClass(PrintWriter out, CountedClass one, long[] counts) {
        out.println("class\t" + one.name + "\t" + one.source + "\t" + one.location);
        for (CountedMethod method : one.methods) {
            StringBuilder text = new StringBuilder("method\t").append(method.name).append('\t')
                    .append(counts[method.entrySlot]).append('\t');
            method.plan.sums(counts).forEach((line, times) ->
                    text.append(line).append(':').append(times).append(' '));
            out.println(text);
        }
        one.uncounted.forEach(name -> out.println("uncounted\t" + name));
    }
}
