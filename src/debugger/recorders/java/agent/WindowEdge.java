package debugger.counting;

import java.util.regex.Pattern;

/** An edge of the part of a run that is counted: where some functions begin, or a line does. */
final class WindowEdge {
    private static final Pattern INNER = Pattern.compile("(?<!\\$)\\$(?=[^\\W\\d])");
    private static final String ANY = "*";

    private final Pattern function;
    private final String folder;  // of the package, with a slash at its end
    private final String source;
    private final int line;

    /** Reads an edge: the pattern of a function or a line; the folder and the name of a source. */
    WindowEdge(String text) {
        String[] words = text.split("\t", -1);
        function = Pattern.compile(words[0]);
        line = Integer.parseInt(words[1]);
        folder = words[2];
        source = words[3];
    }

    boolean isFunction(CountedClass type, String method) {
        String name = INNER.matcher(type.name.replace('/', '.')).replaceAll(".") + "." + method;
        return line == 0 && isSource(type) && function.matcher(name).matches();
    }

    /** Returns the line where the edge is in a class; 0 for none. */
    int lineIn(CountedClass type) {
        return isSource(type) ? line : 0;
    }

    private boolean isSource(CountedClass type) {
        String own = type.name.substring(0, type.name.lastIndexOf('/') + 1);
        return (source.equals(ANY) || source.equals(type.source))
                && (folder.equals(ANY) || folder.equals(own));
    }
}
