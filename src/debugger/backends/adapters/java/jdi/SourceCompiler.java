package debugger.jdi;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Compiles a source file that is to be run as it is.
 *
 * `java X.java` compiles it, too, but without the names of local variables.
 */
final class SourceCompiler {
    private static final Pattern PACKAGE =
            Pattern.compile("^\\s*package\\s+([\\w.]+)\\s*;", Pattern.MULTILINE);

    private SourceCompiler() {}

    /** Compiles a file, and what it uses of its folder, into a folder. */
    static void compile(Path source, Path folder, List<String> options)
            throws DebuggerException, IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw new DebuggerException("this Java has no compiler: a JDK is needed");
        }
        Files.createDirectories(folder);
        List<String> words = new ArrayList<>(List.of("-g", "-nowarn", "-proc:none",
                "-d", folder.toString(), "-sourcepath", sourceRoot(source).toString()));
        words.addAll(options);
        StringWriter said = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            boolean isDone = compiler.getTask(said, files, null, words, null,
                    files.getJavaFileObjects(source)).call();
            if (!isDone) {
                throw new DebuggerException("it does not compile:\n" + said.toString().strip());
            }
        } catch (IllegalArgumentException unknownOption) {
            throw new DebuggerException(unknownOption.getMessage());
        }
    }

    private static Path sourceRoot(Path source) throws IOException {
        // javac judges the encoding; the word `package` is the same in any.
        Matcher matcher = PACKAGE.matcher(
                Files.readString(source, StandardCharsets.ISO_8859_1));
        Path root = source.getParent();
        Path folders = matcher.find() ? Path.of(matcher.group(1).replace('.', '/')) : null;
        if (folders == null || !root.endsWith(folders)) {
            return root;
        }
        for (int part = 0; part < folders.getNameCount(); part++) {
            root = root.getParent();
        }
        return root;
    }
}
