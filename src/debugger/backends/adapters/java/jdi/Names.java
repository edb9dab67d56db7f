package debugger.jdi;

import com.sun.jdi.ArrayType;
import com.sun.jdi.ClassType;
import com.sun.jdi.InterfaceType;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import java.util.ArrayList;
import java.util.List;

/** Names of classes and methods as users write them. */
final class Names {
    private static final List<String> LIBRARIES = List.of(
            "java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.", "kotlinx.", "scala.",
            "groovy.", "org.codehaus.groovy.", "org.apache.groovy.");

    /** What runs tests, and checks in them. */
    private static final List<String> TEST_LIBRARIES = List.of("org.junit.", "junit.",
            "org.opentest4j.", "org.hamcrest.", "org.assertj.", "org.apache.maven.", "org.gradle.",
            "worker.org.gradle.", "org.apiguardian.");

    private Names() {}

    /** Returns a class's name without its package: `shop.Cart$Item` is `Cart.Item`. */
    static String shorten(String name) {
        int end = name.indexOf('/');  // of a hidden class: its address follows
        String plain = end < 0 ? name : name.substring(0, end);
        return plain.substring(plain.lastIndexOf('.') + 1).replaceAll("(?<!\\$)\\$(?=[\\p{L}_])", ".");
    }

    /** Returns a class's name with its package: `shop.Cart.Item`. */
    static String full(String name) {
        return name.substring(0, name.lastIndexOf('.') + 1) + shorten(name);
    }

    static String packageOf(String name) {
        int end = name.lastIndexOf('.');
        return end < 0 ? "" : name.substring(0, end);
    }

    static String elementType(String arrayType) {
        return arrayType.substring(0, arrayType.length() - 2);
    }

    static String function(Location location) {
        return function(location.method());
    }

    static String function(Method method) {
        return shorten(method.declaringType().name()) + "." + method.name();
    }

    static String describeMethod(Method method) {
        List<String> types = new ArrayList<>();
        method.argumentTypeNames().forEach(type -> types.add(shorten(type)));
        String name = method.isConstructor() ? shorten(method.declaringType().name()) : method.name();
        return name + "(" + String.join(", ", types) + ")";
    }

    /** Tells whether a class is of the own library of Java, Kotlin, Scala or Groovy. */
    static boolean isLibrary(String className) {
        return LIBRARIES.stream().anyMatch(className::startsWith);
    }

    /** Tells whether a class is of a library of the language, or of one that runs tests. */
    static boolean isForeign(String className) {
        return isLibrary(className) || TEST_LIBRARIES.stream().anyMatch(className::startsWith);
    }

    static List<String> libraryPatterns() {
        return LIBRARIES.stream().map(prefix -> prefix + "*").toList();
    }

    /** Returns the names of a type and of all that it extends and implements, nearest first. */
    static List<String> ancestry(ReferenceType type) {
        List<String> names = new ArrayList<>();
        List<ReferenceType> level = List.of(type);
        while (!level.isEmpty()) {
            List<ReferenceType> next = new ArrayList<>();
            for (ReferenceType one : level) {
                if (!names.contains(one.name())) {
                    names.add(one.name());
                }
                if (one instanceof ClassType itself) {
                    if (itself.superclass() != null) {
                        next.add(itself.superclass());
                    }
                    next.addAll(itself.interfaces());
                } else if (one instanceof InterfaceType face) {
                    next.addAll(face.superinterfaces());
                }
            }
            level = next;
        }
        if (type instanceof ArrayType array && !array.componentTypeName().equals("boolean")
                && !Arithmetic.BOXES.containsKey(array.componentTypeName())) {
            names.add("java.lang.Object[]");
        }
        // An interface has no superclass, and its objects are Objects all the same.
        names.remove("java.lang.Object");
        names.add("java.lang.Object");
        return names;
    }
}
