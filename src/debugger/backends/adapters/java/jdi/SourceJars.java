package debugger.jdi;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Finds the sources of libraries: `lib-1.2-sources.jar` beside `lib-1.2.jar`, or where Maven and
 * Gradle put what they download.
 *
 * A file that is shown is copied into the folder for what is compiled, as a jar's entry has no path.
 */
final class SourceJars {
    private static final String ENDING = "-sources.jar";
    private static final List<String> DOWNLOADS =
            List.of(".m2/repository", ".gradle/caches/modules-2/files-2.1");
    private static final int FILES_MAX = 50_000;  // of the downloads that are looked at, for a jar that lies elsewhere

    private final Path cache;
    private final Path home;
    private final Map<String, Path> libraries = new LinkedHashMap<>();  // by the name of their sources
    private final Map<Path, ZipFile> opened = new LinkedHashMap<>();
    private Map<String, Path> downloads;  // the same of what was downloaded, once it was looked for
    private boolean isOpen;

    SourceJars(Path cache, Path home) {
        this.cache = cache;
        this.home = home;
    }

    /** Adds a jar of the class path. */
    void addLibrary(Path jar) {
        String name = jar.getFileName().toString();
        if (name.endsWith(".jar") && !name.endsWith(ENDING)) {
            libraries.put(name.substring(0, name.length() - 4) + ENDING, jar);
            isOpen = false;
        }
    }

    /** Tells whether a file was copied from a jar. */
    boolean isCopy(Path file) {
        return file.startsWith(cache);
    }

    /** Returns a copy of the source with this path; null if no jar has it. */
    Path find(String sourcePath) {
        if (!isOpen) {
            isOpen = true;
            libraries.forEach(this::open);
        }
        for (Map.Entry<Path, ZipFile> one : opened.entrySet()) {
            ZipEntry entry = findEntry(one.getValue(), sourcePath);
            if (entry != null) {
                try {
                    return copy(one.getKey(), one.getValue(), entry);
                } catch (IOException notWritable) {
                    return null;
                }
            }
        }
        return null;
    }

    private static ZipEntry findEntry(ZipFile jar, String sourcePath) {
        ZipEntry exact = jar.getEntry(sourcePath);
        if (exact != null || sourcePath.endsWith(".java")) {
            return exact;
        }
        // Libraries for several platforms have a folder for each: `jvmMain/kotlin/…`.
        return jar.stream().filter(one -> one.getName().endsWith("/" + sourcePath))
                .findFirst().orElse(null);
    }

    private void open(String name, Path library) {
        Path jar = findJar(name, library);
        if (jar == null || opened.containsKey(jar)) {
            return;
        }
        try {
            opened.put(jar, new ZipFile(jar.toFile()));
        } catch (IOException noJar) {
            // The frames of this library are shown without a source.
        }
    }

    private Path findJar(String name, Path library) {
        Path beside = library.resolveSibling(name);
        if (Files.isRegularFile(beside)) {
            return beside;
        }
        for (String one : DOWNLOADS) {
            if (library.startsWith(home.resolve(one))) {
                return findSibling(name, library);
            }
        }
        return listDownloads().get(name);
    }

    /** Finds a file as Gradle lays them: `VERSION/HASH/NAME`, a hash for each file. */
    private static Path findSibling(String name, Path library) {
        try (Stream<Path> hashes = Files.list(library.getParent().getParent())) {
            return hashes.map(one -> one.resolve(name)).filter(Files::isRegularFile)
                    .findFirst().orElse(null);
        } catch (IOException notReadable) {
            return null;
        }
    }

    private Path copy(Path jar, ZipFile content, ZipEntry entry) throws IOException {
        String key = jar + " " + Files.size(jar) + " " + Files.getLastModifiedTime(jar).toMillis();
        Path folder = cache.resolve("sources-" + Integer.toHexString(key.hashCode()));
        Path file = folder.resolve(entry.getName()).normalize();
        if (!file.startsWith(folder)) {
            throw new IOException("an entry outside of its jar");
        }
        if (!Files.isRegularFile(file)) {
            Files.createDirectories(file.getParent());
            Path draft = Files.createTempFile(file.getParent(), "draft", null);
            try (InputStream in = content.getInputStream(entry)) {
                Files.copy(in, draft, StandardCopyOption.REPLACE_EXISTING);
                Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(draft);
            }
        }
        return file;
    }

    private Map<String, Path> listDownloads() {
        if (downloads == null) {
            downloads = new HashMap<>();
            int[] count = {0};
            for (String one : DOWNLOADS) {
                try {
                    Files.walkFileTree(home.resolve(one), new SimpleFileVisitor<>() {
                        @Override
                        public FileVisitResult visitFile(Path file, BasicFileAttributes of) {
                            if (file.getFileName().toString().endsWith(ENDING)) {
                                downloads.put(file.getFileName().toString(), file);
                            }
                            return ++count[0] < FILES_MAX
                                    ? FileVisitResult.CONTINUE : FileVisitResult.TERMINATE;
                        }

                        @Override
                        public FileVisitResult visitFileFailed(Path file, IOException problem) {
                            return FileVisitResult.CONTINUE;
                        }
                    });
                } catch (IOException notThere) {
                    // Nothing was downloaded there.
                }
            }
        }
        return downloads;
    }
}
