package debugger.jdi;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.Location;
import com.sun.jdi.PathSearchingVirtualMachine;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.VirtualMachine;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Finds the source files of classes. */
final class Sources {
    // Where sources are in a project of Maven's, Gradle's or an editor's.
    private static final List<String> FOLDERS = List.of("", "src", "src/main/java",
            "src/test/java", "src/main/kotlin", "src/test/kotlin", "src/main/groovy",
            "src/test/groovy", "src/main/scala", "src/test/scala", "app/src/main/java");
    // From a folder of classes to its project: `.`, `build`, `target/classes`,
    // `out/production/NAME`, `build/classes/java/main`.
    private static final int LEVELS = 5;

    private final Set<Path> roots = new LinkedHashSet<>();
    private final Map<String, Optional<Path>> found = new HashMap<>();
    private final SourceJars jars = new SourceJars(
            Path.of(System.getProperty("debugger.cache", System.getProperty("java.io.tmpdir"))),
            Path.of(System.getenv().getOrDefault("HOME", System.getProperty("user.home"))));

    /** Adds a folder of classes, or one where the program was started. */
    synchronized void addFolder(Path folder) {
        Path one = folder.toAbsolutePath().normalize();
        for (int level = 0; one != null && level < LEVELS; level++, one = one.getParent()) {
            if (one.getParent() == null) {
                return;  // the whole file system is no project
            }
            for (String inner : FOLDERS) {
                Path root = one.resolve(inner).normalize();
                if (Files.isDirectory(root)) {
                    roots.add(root);
                }
            }
        }
        found.clear();
    }

    /** Adds what a JVM loads classes from: jars, whose sources may lie in others. */
    synchronized void addClassPath(VirtualMachine vm) {
        if (vm instanceof PathSearchingVirtualMachine searching) {
            Path base = Path.of(searching.baseDirectory());
            searching.classPath().forEach(one -> jars.addLibrary(base.resolve(one)));
            found.clear();
        }
    }

    /** Tells whether a source is a library's, from a jar. */
    boolean isLibrary(Path file) {
        return jars.isCopy(file);
    }

    /** Learns from the path of a source file where the files of its packages are. */
    synchronized void learn(Path file, String sourcePath) {
        Path root = file;
        for (int parts = Path.of(sourcePath).getNameCount(); parts > 0 && root != null; parts--) {
            root = root.getParent();
        }
        if (root != null && file.endsWith(sourcePath)) {
            found.put(sourcePath, Optional.of(file));
            roots.add(root);
        } else if (declares(file, sourcePath)) {
            found.put(sourcePath, Optional.of(file));
        }
    }

    /** A location as it is shown; without debug information the name is null and the line 0. */
    record Shown(Path file, String name, int line) {}

    /** Returns what is shown of a location: of code that a library inlined, the call. */
    Shown show(Location location) {
        try {
            Path file = find(location);
            String calls = file == null ? Kotlin.callStratum(location) : null;
            return calls == null
                    ? new Shown(file, location.sourceName(), Math.max(0, location.lineNumber()))
                    : new Shown(find(Kotlin.sourcePath(location, calls)), location.sourceName(calls),
                            location.lineNumber(calls));
        } catch (AbsentInformationException withoutDebugInformation) {
            return new Shown(null, null, Math.max(0, location.lineNumber()));
        }
    }

    Path find(Location location) {
        try {
            return find(Kotlin.sourcePath(location));
        } catch (AbsentInformationException withoutDebugInformation) {
            return null;
        }
    }

    Path find(ReferenceType type) {
        try {
            return find(Kotlin.sourcePaths(type).get(0));
        } catch (AbsentInformationException | IndexOutOfBoundsException withoutDebugInformation) {
            return null;
        }
    }

    private synchronized Path find(String sourcePath) {
        return found.computeIfAbsent(sourcePath, this::search).orElse(null);
    }

    private Optional<Path> search(String sourcePath) {
        for (Path root : new ArrayList<>(roots)) {
            Path file = root.resolve(sourcePath);
            if (Files.isRegularFile(file)) {
                return Optional.of(file);
            }
        }
        // Compilers take a file that lies outside of its package's folder, or of the first ones.
        for (int cut = sourcePath.indexOf('/'); cut >= 0; cut = sourcePath.indexOf('/', cut + 1)) {
            for (Path root : new ArrayList<>(roots)) {
                Path file = root.resolve(sourcePath.substring(cut + 1));
                if (Files.isRegularFile(file) && declares(file, sourcePath)) {
                    return Optional.of(file);
                }
            }
        }
        return Optional.ofNullable(jars.find(sourcePath));
    }

    /** Tells whether a file declares the package of a source's path. */
    boolean declares(Path file, String sourcePath) {
        String folder = sourcePath.substring(0, Math.max(0, sourcePath.lastIndexOf('/')));
        return folder.isEmpty() || folder.equals(declaredFolder(file));
    }

    /** Returns the package that a file declares, as a folder; empty where it declares none. */
    String declaredFolder(Path file) {
        return readLines(file).stream().map(String::strip).filter(one -> one.startsWith("package "))
                .map(one -> one.substring("package ".length()).replace(";", "").strip()
                        .replace('.', '/'))
                .findFirst().orElse("");
    }

    /** Returns a file's lines; none where it cannot be read. */
    List<String> readLines(Path file) {
        try {
            return file == null ? List.of()
                    : Files.readString(file, StandardCharsets.UTF_8).lines().toList();
        } catch (IOException notReadable) {
            return List.of();
        }
    }
}
