package debugger.jdi;

import java.util.HashMap;
import java.util.Map;

/** The numbers by which the client names frames and values of one stop. */
final class Handles {
    private final Map<Integer, Object> items = new HashMap<>();
    // Never used again: a number of an earlier stop is refused, and means nothing else.
    private int last;

    synchronized int add(Object item) {
        items.put(++last, item);
        return last;
    }

    synchronized <T> T find(int number, Class<T> kind) throws DebuggerException {
        Object item = items.get(number);
        if (!kind.isInstance(item)) {
            throw new DebuggerException("that is of an earlier stop");
        }
        return kind.cast(item);
    }

    synchronized void clear() {
        items.clear();
    }
}
