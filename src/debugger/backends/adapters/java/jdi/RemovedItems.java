package debugger.jdi;

import com.sun.jdi.IntegerValue;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.Value;
import java.util.List;
import java.util.Set;

/** Which item a call has removed from a container, as `stack.pop()`: read when the call began. */
final class RemovedItems {
    private static final Set<String> FIRST = Set.of("poll", "pollFirst", "removeFirst");
    private static final Set<String> LAST = Set.of("pollLast", "removeLast");

    private RemovedItems() {}

    /** Tells whether a method of a container, by its name, removes an item that it returns. */
    static boolean isRemoval(String method) {
        return FIRST.contains(method) || LAST.contains(method) || method.equals("pop")
                || method.equals("remove");
    }

    /** Reads the item that a call is about to remove; null where that is not known. */
    static Value readNext(ObjectReference container, String method, List<Value> arguments) {
        int size = container == null || !isRemoval(method) ? -1 : Containers.size(container);
        if (size <= 0 || Containers.isMap(container)) {
            return null;
        }
        // The pop of Stack takes the last item, that of a queue the first one.
        boolean isLast = LAST.contains(method) || method.equals("pop")
                && container.referenceType().name().equals("java.util.Stack");
        int index = isLast ? size - 1 : 0;
        if (!arguments.isEmpty()) {
            if (!(arguments.get(0) instanceof IntegerValue place)) {
                return null;  // the item itself, or a number of items
            }
            index = place.value();
        }
        List<Value> found = Containers.readItems(container, index, 1);
        return found == null || found.isEmpty() ? null : found.get(0);
    }

    /** Returns what a call of a frame has removed, where that was recorded; or null. */
    static ValueReader.Known find(
            ValueTrace.Cursor at, ValueNode.Call call, List<Moment> changes) {
        for (Moment one : changes) {
            boolean isIt = one.frames().size() > 1 && one.old() != null
                    && one.thread().equals(at.moment().thread())
                    && one.frames().get(0).method().name().equals(call.method.name())
                    && one.frames().get(1).method().equals(at.method())
                    && one.frames().get(1).code() == call.code
                    && one.depth() - 1 == at.moment().depthOf(at.index());
            if (isIt) {
                return new ValueReader.Known(one.old());
            }
        }
        return null;
    }
}
