package debugger.jdi;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Loads the classes that sessions need: ours and those of the JDI.
 *
 * A JVM that is begun with `-XX:ArchiveClassesAtExit` writes them into an archive, from which the
 * next ones have them without reading and checking their files (JEP 350).
 */
final class ClassArchive {
    private static final String SUFFIX = ".class";

    private ClassArchive() {}

    /** Loads the classes; the argument is our jar. */
    public static void main(String[] words) throws IOException {
        try (JarFile jar = new JarFile(words[0])) {
            load(jar.stream().map(one -> one.getName()).collect(Collectors.toList()));
        }
        Path module = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules/jdk.jdi");
        try (Stream<Path> files = Files.walk(module)) {
            load(files.map(one -> module.relativize(one).toString()).collect(Collectors.toList()));
        }
    }

    private static void load(List<String> files) {
        for (String file : files) {
            if (!file.endsWith(SUFFIX) || file.contains("-info")) {
                continue;
            }
            String name = file.substring(0, file.length() - SUFFIX.length()).replace('/', '.');
            try {
                Class.forName(name, false, ClassArchive.class.getClassLoader());
            } catch (ClassNotFoundException | LinkageError notLoaded) {
                // The sessions load it, if they can.
            }
        }
    }
}
