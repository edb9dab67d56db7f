package debugger.jdi;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.LocalVariable;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Knows how kotlinc writes class files (1.3 to 2.2): sources of inlined code, names, data classes.
 *
 * A class with inlined code has a source map (JSR 45) whose stratum `Kotlin` names the file of each
 * line, with a class in the place of the file's path.
 */
final class Kotlin {
    private static final String FILE = ".kt";
    private static final String CALLS = "KotlinDebug";

    private Kotlin() {}

    /** Returns the path of a location's source: `shop/App.kt`. */
    static String sourcePath(Location location) throws AbsentInformationException {
        return joinPath(location.sourcePath(), location.sourceName());
    }

    static String sourcePath(Location location, String stratum) throws AbsentInformationException {
        return joinPath(location.sourcePath(stratum), location.sourceName(stratum));
    }

    /**
     * Returns the stratum in which a line that was inlined is that of the call; null for other lines.
     *
     * The stratum has the outermost call, in the class's own file.
     */
    static String callStratum(Location location) {
        return location.declaringType().availableStrata().contains(CALLS)
                && location.lineNumber(CALLS) > 0 ? CALLS : null;
    }

    /** Returns the paths of a class's sources, its own first; those of inlined code follow. */
    static List<String> sourcePaths(ReferenceType type) throws AbsentInformationException {
        List<String> paths = type.sourcePaths(null);
        List<String> names = type.sourceNames(null);
        List<String> found = new ArrayList<>();
        // Two files of one name are one of the names: the paths do not tell which is which.
        for (int index = 0; index < paths.size(); index++) {
            String name = index < names.size() && names.size() == paths.size()
                    ? names.get(index) : names.get(0);
            found.add(joinPath(paths.get(index), name));
        }
        return found;
    }

    private static String joinPath(String path, String name) {
        return path.endsWith(name) || !name.endsWith(FILE) ? path
                : path.substring(0, path.lastIndexOf('/') + 1) + name;
    }

    /**
     * Returns variables by the names that their source gives them, the innermost of each name.
     *
     * Those of inlined functions are `sum$iv` or, since 2.2, `sum\1`; marks of kotlinc are left out.
     */
    static Map<String, LocalVariable> nameVariables(Collection<LocalVariable> variables) {
        Map<String, LocalVariable> found = new LinkedHashMap<>();
        for (LocalVariable one : variables) {
            String name = plainName(one.name());
            if (!isMark(name)) {
                found.put(name, one);
            }
        }
        return found;
    }

    static String plainName(String name) {
        int end = name.indexOf('\\');
        return (end < 0 ? name : name.substring(0, end)).replaceAll("(?:\\$iv)+$", "");
    }

    private static boolean isMark(String name) {
        return name.startsWith("$i$f$") || name.startsWith("$i$a$") || name.equals("$completion")
                || name.equals("$continuation") || name.equals("$result");
    }

    /** Returns the name of the variable that is `this` in an extension function. */
    static String receiverName(Method method) {
        return "$this$" + method.name();
    }

    /** Tells whether a class is a data class: it has what kotlinc makes for one. */
    static boolean isDataClass(ReferenceType type) {
        return !type.methodsByName("component1").isEmpty()
                && !type.methodsByName("copy$default").isEmpty();
    }

    /** Returns the getter of a property that has no field; null without one. */
    static String findGetter(ReferenceType type, String property) {
        String getter = property.startsWith("is") ? property
                : "get" + Character.toUpperCase(property.charAt(0)) + property.substring(1);
        boolean isThere = type.methodsByName(getter).stream().anyMatch(one ->
                one.argumentTypeNames().isEmpty() && !one.isStatic() && isCompiled(one.declaringType()));
        return isThere ? getter : null;
    }

    private static boolean isCompiled(ReferenceType type) {
        try {
            return sourcePaths(type).get(0).endsWith(FILE);
        } catch (AbsentInformationException withoutDebugInformation) {
            return false;
        }
    }
}
