package debugger.jdi;

import com.sun.jdi.ArrayType;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.VirtualMachine;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;

/**
 * The classes that the compiler sees: the program's loaded ones, else those of its class path.
 *
 * So a class counts that no file holds, such as one of a jar within a jar. The JDK's are our own JDK's.
 */
final class ProgramClasses extends ForwardingJavaFileManager<StandardJavaFileManager> {
    private final TreeMap<String, ReferenceType> loaded = new TreeMap<>();
    private final TreeSet<String> unloaded = new TreeSet<>();  // of packages that were listed
    private final Map<String, ByteArrayOutputStream> compiled = new LinkedHashMap<>();

    ProgramClasses(StandardJavaFileManager files, VirtualMachine vm) {
        super(files);
        for (ReferenceType type : vm.allClasses()) {
            boolean isOwn = !(type instanceof ArrayType) && type.isPrepared()
                    && type.name().indexOf('/') < 0 && type.classLoader() != null;
            if (isOwn) {
                loaded.put(type.name(), type);
            }
        }
    }

    /** Tells whether a loaded class is of this package. */
    boolean hasPackage(String name) {
        return loaded.subMap(name + ".", name + "/").keySet().stream()
                .anyMatch(one -> Names.packageOf(one).equals(name));
    }

    /** Returns what the compiler has written, by the name of the class. */
    Map<String, byte[]> compiled() {
        Map<String, byte[]> found = new LinkedHashMap<>();
        compiled.forEach((name, bytes) -> found.put(name, bytes.toByteArray()));
        return found;
    }

    @Override
    public Iterable<JavaFileObject> list(JavaFileManager.Location location, String packageName,
            Set<JavaFileObject.Kind> kinds, boolean recurse) throws IOException {
        Iterable<JavaFileObject> others = super.list(location, packageName, kinds, recurse);
        if (location != StandardLocation.CLASS_PATH || !kinds.contains(JavaFileObject.Kind.CLASS)) {
            return others;
        }
        List<JavaFileObject> found = new ArrayList<>();
        Map<String, ReferenceType> some = packageName.isEmpty() ? loaded
                : loaded.subMap(packageName + ".", packageName + "/");
        for (ReferenceType type : some.values()) {
            if (recurse || Names.packageOf(type.name()).equals(packageName)) {
                found.add(new LoadedClass(type));
            }
        }
        for (JavaFileObject other : others) {
            String name = super.inferBinaryName(location, other);
            if (name == null || !loaded.containsKey(name.replace('/', '.'))) {
                found.add(other);
                unloaded.add(name == null ? "" : name.replace('/', '.'));
            }
        }
        return found;
    }

    @Override
    public String inferBinaryName(JavaFileManager.Location location, JavaFileObject file) {
        return file instanceof LoadedClass one ? one.type.name()
                : super.inferBinaryName(location, file);
    }

    @Override
    public JavaFileObject getJavaFileForOutput(JavaFileManager.Location location, String className,
            JavaFileObject.Kind kind, FileObject sibling) {
        return new SimpleJavaFileObject(URI.create("mem:///" + className), kind) {
            @Override
            public OutputStream openOutputStream() {
                return compiled.computeIfAbsent(className, name -> new ByteArrayOutputStream());
            }
        };
    }

    /** A loaded class, written as a class file when the compiler reads it. */
    private final class LoadedClass extends SimpleJavaFileObject {
        private final ReferenceType type;

        LoadedClass(ReferenceType type) {
            super(URI.create("jvm:///" + type.name().replace('.', '/') + ".class"), Kind.CLASS);
            this.type = type;
        }

        @Override
        public InputStream openInputStream() throws IOException {
            return new ByteArrayInputStream(ClassStub.write(type, loaded, unloaded));
        }
    }
}
