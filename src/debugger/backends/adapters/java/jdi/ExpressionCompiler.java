package debugger.jdi;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.ArrayType;
import com.sun.jdi.ClassObjectReference;
import com.sun.jdi.ClassNotLoadedException;
import com.sun.jdi.Field;
import com.sun.jdi.InvalidTypeException;
import com.sun.jdi.Method;
import com.sun.jdi.PathSearchingVirtualMachine;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/**
 * Compiles what our own evaluator does not know, such as lambdas, to a class in the program.
 *
 * The class is hidden and a nestmate of the frame's class (JEP 371, JEP 181): it may use what that may
 * use, private members too, and nothing else of the program sees it. Before Java 15 there is none, and
 * before 23 lambdas do not work in one (JDK-8330467: the metafactory names its class). There it is a
 * class of the same package, which the private members are closed to. Each expression is compiled once.
 */
final class ExpressionCompiler {
    private static final int KEPT_MAX = 200;
    private static final int HIDDEN_SINCE = 15;
    private static final int HIDDEN_LAMBDAS_SINCE = 23;
    private static final String CLASS = "DebuggerExpression";
    private static final String LAMBDA = "lambda$evaluate";  // as javac names the method of a lambda
    private static final Pattern PRIVATE = Pattern.compile(
            "tried to access private (?:field|method) (?:'[\\w.$]+ )?([\\w.$]+)");
    private static final Pattern IMPORT = Pattern.compile(
            "^\\s*import\\s+(static\\s+)?([\\w.$]+)\\.(\\w+|\\*)\\s*;.*$");
    private static final List<String> ALWAYS = List.of(
            "java.util.*", "java.util.function.*", "java.util.stream.*");

    /** A method that evaluates an expression, or why there is none, of so many classes. */
    private record Compiled(
            Method method, ClassObjectReference type, String problem, int classCount) {
        boolean isOutdated(VirtualMachine vm) {
            return problem != null && classCount != vm.allClasses().size();
        }
    }

    private final VirtualMachine vm;
    private final Calls calls;
    private final Sources sources;
    private final ClassNames classNames;
    private final Map<String, Compiled> kept = new LinkedHashMap<>();
    private int count;

    ExpressionCompiler(VirtualMachine vm, Calls calls, Sources sources, ClassNames classNames) {
        this.vm = vm;
        this.calls = calls;
        this.sources = sources;
        this.classNames = classNames;
    }

    /** Evaluates an expression in the class of a frame. */
    synchronized Value evaluate(ExpressionBody body, ReferenceType host, ThreadReference thread)
            throws DebuggerException {
        if (host == null || host.classLoader() == null || host.name().indexOf('/') >= 0) {
            throw new DebuggerException("a lambda is compiled for a class of the program, and this "
                    + "frame is of the JDK: debugger up goes to one of the program's");
        }
        String key = host.classObject().uniqueID() + "(" + body.declareParameters() + ")" + body.text();
        Compiled found = kept.get(key);
        if (found == null || found.isOutdated(vm)) {
            found = make(body, host, thread);
            keep(key, found);
        }
        if (found.problem() != null) {
            throw new DebuggerException(found.problem());
        }
        try {
            return calls.invokeStatic(thread, found.method(), body.values());
        } catch (DebuggerException problem) {
            throw explain(problem);
        }
    }

    private DebuggerException explain(DebuggerException problem) {
        Matcher member = PRIVATE.matcher(problem.getMessage());
        return !member.find() ? problem : new DebuggerException(
                Names.shorten(member.group(1).replaceAll("\\.(?=\\w+$)", "\\$")).replace('$', '.')
                        + " is private, and closed to a lambda here"
                        + (version() < HIDDEN_LAMBDAS_SINCE ? " before Java " + HIDDEN_LAMBDAS_SINCE : "")
                        + ": use a method that is not, or no lambda");
    }

    /** Tells whether a field's value is to be passed, since the class could not read it itself. */
    boolean passesValue(Field field) {
        return field.isPrivate() && version() < HIDDEN_LAMBDAS_SINCE;
    }

    private void keep(String key, Compiled compiled) {
        if (kept.size() == KEPT_MAX && !kept.containsKey(key)) {
            String oldest = kept.keySet().iterator().next();
            Compiled gone = kept.remove(oldest);
            if (gone.type() != null) {
                gone.type().enableCollection();
            }
        }
        kept.put(key, compiled);
    }

    private Compiled make(ExpressionBody body, ReferenceType host, ThreadReference thread)
            throws DebuggerException {
        byte[] bytes;
        try {
            bytes = compile(body, host);
        } catch (DebuggerException problem) {
            return new Compiled(null, null, problem.getMessage(), vm.allClasses().size());
        } catch (IOException problem) {
            throw new DebuggerException("cannot compile the expression: " + problem.getMessage());
        }
        ClassObjectReference type = define(bytes, host, thread);
        type.disableCollection();  // else the JVM unloads it
        return new Compiled(type.reflectedType().methodsByName("evaluate").get(0), type, null, 0);
    }

    // -- the source --------------------------------------------------------------------------------

    private byte[] compile(ExpressionBody body, ReferenceType host)
            throws DebuggerException, IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw new DebuggerException("lambdas need a compiler: a JDK, not a JRE");
        }
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            files.setLocation(StandardLocation.CLASS_PATH, listClassPath());
            ProgramClasses classes = new ProgramClasses(files, vm);
            String problem = compile(compiler, classes, write(body, host, classes, "return %s;"));
            if (problem.contains("void")) {
                // A call that returns nothing, such as list.forEach(…).
                problem = compile(compiler, classes,
                        write(body, host, classes, "%s; return null;"));
            }
            if (!problem.isEmpty()) {
                throw new DebuggerException("the expression does not compile: " + problem);
            }
            Map<String, byte[]> compiled = classes.compiled();
            if (compiled.size() != 1) {
                throw new DebuggerException("an expression can declare no class, and a switch over an "
                        + "enum needs one: compare with ==");
            }
            return compiled.values().iterator().next();
        }
    }

    private List<File> listClassPath() {
        List<File> found = new ArrayList<>();
        if (vm instanceof PathSearchingVirtualMachine searching) {
            Path base = Path.of(searching.baseDirectory());
            searching.classPath().forEach(one -> found.add(base.resolve(one).toFile()));
        }
        return found;
    }

    /** Returns the first error; "" where it compiles. */
    private String compile(JavaCompiler compiler, ProgramClasses classes, String text) {
        DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
        JavaFileObject source = new SimpleJavaFileObject(
                URI.create("mem:///" + CLASS + ".java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        };
        compiler.getTask(null, classes, problems, options(), null, List.of(source)).call();
        return problems.getDiagnostics().stream()
                .filter(one -> one.getKind() == Diagnostic.Kind.ERROR).findFirst()
                .map(one -> shorten(one.getMessage(null))).orElse("");
    }

    /** Returns javac's message in one line, without the class that only we know. */
    private static String shorten(String message) {
        return message.strip().replaceAll("\\s*\\n\\s*", "; ")
                .replaceAll("cannot find symbol; symbol:\\s+", "cannot find ")
                .replaceAll("; location: class (?:[\\w.]+\\.)?" + CLASS + "\\d+", "");
    }

    private List<String> options() {
        List<String> options = new ArrayList<>(
                List.of("-proc:none", "-nowarn", "-Xlint:none", "-implicit:none", "-g:none"));
        int version = version();
        if (version < Runtime.version().feature()) {
            options.addAll(List.of("-source", "" + version, "-target", "" + version));
        }
        return options;
    }

    private int version() {
        Matcher matcher = Pattern.compile("(?:1\\.)?(\\d+)").matcher(vm.version());
        return matcher.lookingAt() ? Integer.parseInt(matcher.group(1))
                : Runtime.version().feature();
    }

    private String write(
            ExpressionBody body, ReferenceType host, ProgramClasses classes, String statement) {
        StringBuilder text = new StringBuilder();
        String own = Names.packageOf(host.name());
        text.append(own.isEmpty() ? "" : "package " + own + ";\n");
        for (String one : ALWAYS) {
            text.append("import ").append(one).append(";\n");
        }
        for (String line : sources.readLines(sources.find(host))) {
            Matcher matcher = IMPORT.matcher(line);
            if (matcher.matches() && isNeeded(matcher, body, classes)) {
                text.append(line).append('\n');
            }
        }
        text.append("final class ").append(CLASS).append(++count)
                .append(" {\nstatic Object evaluate(").append(body.declareParameters())
                .append(") throws Throwable {\n")
                .append(statement.formatted(body.text())).append("\n}\n}\n");
        return text.toString();
    }

    /** Tells whether an import is of use; one of a package that is not there would be an error. */
    private static boolean isNeeded(
            Matcher matcher, ExpressionBody body, ProgramClasses classes) {
        boolean isWhole = matcher.group(3).equals("*");
        if (!isWhole) {
            return body.words().contains(matcher.group(3));
        }
        return matcher.group(1) != null || classes.hasPackage(matcher.group(2))
                || ModuleLayer.boot().modules().stream()
                        .anyMatch(one -> one.getPackages().contains(matcher.group(2)));
    }

    // -- the class ---------------------------------------------------------------------------------

    private boolean canBeHidden(byte[] bytes) {
        boolean hasLambda = new String(bytes, StandardCharsets.ISO_8859_1).contains(LAMBDA);
        return version() >= (hasLambda ? HIDDEN_LAMBDAS_SINCE : HIDDEN_SINCE);
    }

    private ClassObjectReference define(byte[] bytes, ReferenceType host, ThreadReference thread)
            throws DebuggerException {
        ArrayReference array = upload(bytes);
        try {
            if (!canBeHidden(bytes)) {
                List<Object> arguments = new ArrayList<>();
                arguments.add(null);
                arguments.addAll(List.of(array, vm.mirrorOf(0), vm.mirrorOf(bytes.length)));
                ClassObjectReference plain = (ClassObjectReference) calls.invoke(
                        thread, host.classLoader(), "defineClass", arguments);
                classNames.load(plain.reflectedType().name(), host, thread);  // and prepare it
                return plain;
            }
            String name = "java.lang.invoke.MethodHandles$Lookup";
            ReferenceType lookups = classNames.find(name, null, thread);
            ReferenceType option = classNames.find(name + "$ClassOption", null, thread);
            ArrayReference options = classNames.makeArray(option, 1, thread);
            options.setValue(0, option.getValue(option.fieldByName("NESTMATE")));
            Value whole = lookups.getValue(lookups.fieldByName("IMPL_LOOKUP"));
            Value own = calls.invoke(thread, whole, "in", List.of(host.classObject()));
            Value defined = calls.invoke(thread, own, "defineHiddenClass",
                    List.of(array, vm.mirrorOf(true), options));
            return (ClassObjectReference) calls.invoke(thread, defined, "lookupClass", List.of());
        } catch (InvalidTypeException | ClassNotLoadedException never) {
            throw new DebuggerException(never.toString());
        } finally {
            array.enableCollection();
        }
    }

    private ArrayReference upload(byte[] bytes) throws DebuggerException {
        ArrayReference array = ((ArrayType) vm.classesByName("byte[]").get(0)).newInstance(bytes.length);
        array.disableCollection();
        List<Value> values = new ArrayList<>();
        for (byte one : bytes) {
            values.add(vm.mirrorOf(one));
        }
        try {
            array.setValues(values);
        } catch (InvalidTypeException | ClassNotLoadedException never) {
            throw new DebuggerException(never.toString());
        }
        return array;
    }
}
