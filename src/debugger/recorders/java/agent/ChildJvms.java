package debugger.counting;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Gives the JVMs that the program starts the agent's option. */
final class ChildJvms implements UnaryOperator<String[]> {
    private static final String LIBRARY = "../lib/libinstrument.so";

    private final String option;

    ChildJvms(Path agent, String folder) {
        option = "-javaagent:" + agent + "=" + folder;
    }

    /** Returns the words of a command, with the option where it is a JVM that can have it. */
    @Override
    public String[] apply(String[] words) {
        try {
            if (words.length == 0 || Arrays.asList(words).contains(option) || !isJvm(words[0])) {
                return words;
            }
        } catch (RuntimeException unknown) {
            return words;  // the program must not notice
        }
        String[] changed = new String[words.length + 1];
        changed[0] = words[0];
        changed[1] = option;
        System.arraycopy(words, 1, changed, 2, words.length - 1);
        return changed;
    }

    /** Tells whether a program is `java`, of a JVM from 9 on that has agents: it fails to start else. */
    private static boolean isJvm(String program) {
        if (!new File(program).getName().equals("java")) {
            return false;
        }
        Stream<String> folders = program.contains("/") ? Stream.of("")
                : Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":"));
        return folders.map(one -> Path.of(one, program)).filter(Files::isExecutable).findFirst()
                .filter(ChildJvms::hasAgents).isPresent();
    }

    private static boolean hasAgents(Path java) {
        try {
            return Files.exists(java.toRealPath().resolveSibling(LIBRARY));
        } catch (IOException unknown) {
            return false;
        }
    }
}
