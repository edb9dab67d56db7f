package debugger.jdi;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.ClassObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the class that a name means in a class's source. */
final class ClassNames {
    private static final Pattern IMPORT =
            Pattern.compile("^\\s*import\\s+(?:static\\s+)?([\\w.$]+?)(\\.\\*)?\\s*;?\\s*$");

    private final VirtualMachine vm;
    private final Sources sources;
    private final Calls calls;

    ClassNames(VirtualMachine vm, Sources sources, Calls calls) {
        this.vm = vm;
        this.sources = sources;
        this.calls = calls;
    }

    /** Returns the class; null where nothing has this name. Only dotted names are loaded. */
    ReferenceType find(String name, ReferenceType within, ThreadReference thread)
            throws DebuggerException {
        List<String> candidates = new ArrayList<>();
        if (within != null) {
            String outer = within.name();
            while (true) {
                candidates.add(outer + "$" + name);
                int end = outer.lastIndexOf('$');
                if (end < 0) {
                    break;
                }
                outer = outer.substring(0, end);
            }
            String own = Names.packageOf(within.name());
            candidates.add(own.isEmpty() ? name : own + "." + name);
            candidates.addAll(imported(name, within));
        }
        candidates.add(name);
        candidates.add("java.lang." + name);
        candidates.add("java.util." + name);
        for (String candidate : candidates) {
            ReferenceType found = loaded(candidate);
            if (found != null) {
                return found;
            }
        }
        ReferenceType similar = name.contains(".") ? null : bySimpleName(name);
        if (similar != null || thread == null || !Character.isUpperCase(
                name.charAt(name.lastIndexOf('.') + 1))) {
            return similar;
        }
        for (String candidate : candidates) {
            ReferenceType found = load(candidate, within, thread);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private List<String> imported(String name, ReferenceType within) {
        List<String> found = new ArrayList<>();
        for (String line : sources.readLines(sources.find(within))) {
            Matcher matcher = IMPORT.matcher(line);
            if (matcher.matches()) {
                boolean isWhole = matcher.group(2) != null;
                if (isWhole) {
                    found.add(matcher.group(1) + "." + name);
                } else if (matcher.group(1).endsWith("." + name)) {
                    found.add(matcher.group(1));
                }
            }
        }
        return found;
    }

    /** Returns a loaded class; `a.B.C` may be the class C within a.B. */
    ReferenceType loaded(String name) {
        String candidate = name;
        while (true) {
            List<ReferenceType> found = vm.classesByName(candidate);
            if (!found.isEmpty()) {
                return found.get(0);
            }
            int end = candidate.lastIndexOf('.');
            if (end < 0) {
                return null;
            }
            candidate = candidate.substring(0, end) + "$" + candidate.substring(end + 1);
        }
    }

    private ReferenceType bySimpleName(String name) {
        ReferenceType found = null;
        for (ReferenceType one : vm.allClasses()) {
            String own = one.name();
            boolean isIt = own.endsWith("." + name) || own.endsWith("$" + name) || own.equals(name);
            if (isIt && (found == null || !Names.isLibrary(own))) {
                found = one;
            }
        }
        return found;
    }

    /** Makes an array by the program's own method: the JDI may not know the type of newer arrays. */
    ArrayReference makeArray(ReferenceType element, int size, ThreadReference thread)
            throws DebuggerException {
        ReferenceType arrays = find("java.lang.reflect.Array", null, thread);
        return (ArrayReference) calls.invoke(thread, arrays, "newInstance",
                List.of(element.classObject(), vm.mirrorOf(size)));
    }

    /**
     * Returns a class that is loaded and initialised for this; null where there is none.
     *
     * The JDI finds it by its name only later, when the event of its loading has come.
     */
    ReferenceType load(String name, ReferenceType within, ThreadReference thread) {
        try {
            ReferenceType loader = vm.classesByName("java.lang.Class").get(0);
            Value found = calls.invoke(thread, loader, "forName", Arrays.asList(
                    name, vm.mirrorOf(true), within == null ? null : within.classLoader()));
            return found instanceof ClassObjectReference type ? type.reflectedType() : null;
        } catch (DebuggerException notThere) {
            return null;
        }
    }
}
