package debugger.jdi;

import com.sun.jdi.ObjectReference;
import com.sun.jdi.Value;
import java.util.List;
import java.util.Set;

/** From which container the library has taken an item that it passes to a lambda. */
final class StreamedItems {
    /** Calls of a container that pass its items to a lambda, or to a stream or an iterator. */
    private static final Set<String> SOURCES = Set.of("stream", "parallelStream", "forEach", "removeIf",
            "replaceAll", "iterator", "sort", "map", "filter", "any", "all", "sumOf");
    private static final int ITEMS_MAX = 10_000;

    /** A container, and its tree in an own frame of the cursor's moment. */
    record Source(ValueNode node, ObjectReference container, int index) {}

    private StreamedItems() {}

    /** Finds the container among those that the statement of the next own frame goes through. */
    static Source find(ValueTrace trace, ValueTrace.Cursor at) {
        if (at.value() == null) {
            return null;
        }
        int own = at.index() + 1;
        List<RecordedFrame> frames = at.moment().frames();
        while (own < frames.size() && !frames.get(own).isOwn()) {
            own++;
        }
        if (own >= frames.size()) {
            return null;
        }
        ValueTrace.Cursor caller =
                new ValueTrace.Cursor(at.node(), at.moment(), own, at.value());
        ValueNode node = StackAnalysis.of(caller.method()).callAt(caller.frame().code());
        while (node instanceof ValueNode.Call call && call.receiver != null) {
            ValueNode from = ValueTrace.resolve(call.receiver, caller.method());
            ValueReader.Known known = SOURCES.contains(call.method.name())
                    ? trace.read(from, caller) : null;
            if (known != null && known.value() instanceof ObjectReference container
                    && holds(container, at.value().value())) {
                return new Source(from, container, own);
            }
            node = from;
        }
        return null;
    }

    /** Tells whether a container holds an item, by its object; or a null. */
    private static boolean holds(ObjectReference container, Object item) {
        if (Containers.size(container) < 0 || Containers.isMap(container)
                || item != null && !(item instanceof ObjectReference)) {
            return false;
        }
        List<Value> items = Containers.readItems(container, 0, ITEMS_MAX);
        return items != null && items.stream().anyMatch(
                one -> item == null ? one == null : item.equals(one));
    }
}
