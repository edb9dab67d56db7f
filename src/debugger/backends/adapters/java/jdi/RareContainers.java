package debugger.jdi;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.LongValue;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the less common collections of java.util by their fields: views, enumerations, queues.
 *
 * The names of the fields are those of the JDK 11 to 25.
 */
final class RareContainers {
    private static final String CONCURRENT = "java.util.concurrent.";
    private static final int SCAN_MAX = 10_000;  // nodes: each costs a round trip

    private RareContainers() {}

    /** Returns the number of elements; -1 if the object is none of these. */
    static int size(ObjectReference object) {
        String count = switch (kind(object)) {
            case "java.util.Vector" -> "elementCount";
            case "java.util.Hashtable", CONCURRENT + "LinkedBlockingDeque",
                    CONCURRENT + "ArrayBlockingQueue", CONCURRENT + "LinkedBlockingQueue" -> "count";
            case "java.util.Collections$CopiesList" -> "n";
            case "java.util.EnumMap", "java.util.IdentityHashMap", "java.util.WeakHashMap",
                    CONCURRENT + "PriorityBlockingQueue", "SubList" -> "size";
            default -> null;
        };
        if (count == null) {
            boolean isWalked = !kind(object).isEmpty();
            return !isWalked ? -1 : isMap(object) ? entries(object, SCAN_MAX).size()
                    : items(object, SCAN_MAX).size();
        }
        Value value = Throwables.read(object, count);
        if (value instanceof ObjectReference counter) {  // an AtomicInteger
            value = Throwables.read(counter, "value");
        }
        return value instanceof IntegerValue number ? number.value() : -1;
    }

    static boolean isMap(ObjectReference object) {
        return kind(object).endsWith("Map") || kind(object).equals("java.util.Hashtable");
    }

    /** Returns the class that tells how an object is read; "" for any other object. */
    private static String kind(ObjectReference object) {
        String name = object.referenceType().name();
        if (name.startsWith("java.util.") && name.endsWith("$SubList")) {
            return "SubList";
        }
        for (String one : Names.ancestry(object.referenceType())) {
            switch (one) {
                case "java.util.Properties" -> {
                    return "";  // a view of a map that it holds
                }
                case "java.util.Vector", "java.util.Hashtable", "java.util.EnumMap",
                        "java.util.IdentityHashMap", "java.util.WeakHashMap",
                        "java.util.Collections$CopiesList", "java.util.RegularEnumSet",
                        CONCURRENT + "LinkedBlockingQueue", CONCURRENT + "LinkedBlockingDeque",
                        CONCURRENT + "ArrayBlockingQueue", CONCURRENT + "PriorityBlockingQueue",
                        CONCURRENT + "ConcurrentLinkedQueue",
                        CONCURRENT + "ConcurrentSkipListMap" -> {
                    return one;
                }
                default -> { }
            }
        }
        return "";
    }

    /** Returns the first elements in order. */
    static List<Value> items(ObjectReference object, int most) {
        List<Value> found = new ArrayList<>();
        switch (kind(object)) {
            case "java.util.Vector" -> addSlots(found, object, "elementData", 0, size(object), most);
            case CONCURRENT + "PriorityBlockingQueue" ->
                    addSlots(found, object, "queue", 0, size(object), most);
            case CONCURRENT + "ArrayBlockingQueue" ->
                    addSlots(found, object, "items", number(object, "takeIndex"), size(object), most);
            case "java.util.Collections$CopiesList" -> {
                for (int at = 0; at < Math.min(size(object), most); at++) {
                    found.add(Throwables.read(object, "element"));
                }
            }
            case "SubList" -> {
                ObjectReference root = (ObjectReference) Throwables.read(object, "root");
                int count = Math.min(most, size(object));
                List<Value> part = Containers.readItems(root, number(object, "offset"), count);
                found.addAll(part == null ? List.of() : part);
            }
            case "java.util.RegularEnumSet" -> addFlagged(found, object, most);
            case CONCURRENT + "LinkedBlockingDeque" -> addNodes(found, object, "first", most);
            case CONCURRENT + "LinkedBlockingQueue", CONCURRENT + "ConcurrentLinkedQueue" ->
                    addNodes(found, object, "head", most);
            default -> { }
        }
        return found;
    }

    /** Adds elements of an array that goes on at its beginning behind its end. */
    private static void addSlots(List<Value> found, ObjectReference object, String field,
            int start, int count, int most) {
        if (Throwables.read(object, field) instanceof ArrayReference slots && slots.length() > 0) {
            int length = Math.min(count, most);
            int first = Math.min(length, slots.length() - start);
            if (first > 0) {
                found.addAll(slots.getValues(start, first));
            }
            if (length > first) {
                found.addAll(slots.getValues(0, length - first));
            }
        }
    }

    /** Adds the constants of an enumeration whose bits are set. */
    private static void addFlagged(List<Value> found, ObjectReference set, int most) {
        long flags = ((LongValue) Throwables.read(set, "elements")).value();
        ArrayReference universe = (ArrayReference) Throwables.read(set, "universe");
        for (int at = 0; at < universe.length() && found.size() < most; at++) {
            if ((flags >>> at & 1) != 0) {
                found.add(universe.getValue(at));
            }
        }
    }

    private static void addNodes(List<Value> found, ObjectReference queue, String first, int most) {
        Value node = Throwables.read(queue, first);
        for (int at = 0; node instanceof ObjectReference one && found.size() < most; at++) {
            Value item = Throwables.read(one, "item");
            if (item != null) {  // the node at the head may have none
                found.add(item);
            }
            Value next = Throwables.read(one, "next");
            node = at > SCAN_MAX || one.equals(next) ? null : next;
        }
    }

    /** Returns the first entries of a map in its own order. */
    static List<Containers.Entry> entries(ObjectReference map, int most) {
        List<Containers.Entry> found = new ArrayList<>();
        switch (kind(map)) {
            case "java.util.EnumMap" -> {
                List<Value> keys = values(map, "keyUniverse");
                List<Value> contents = values(map, "vals");
                for (int at = 0; at < keys.size() && found.size() < most; at++) {
                    add(found, keys.get(at), contents.get(at), contents.get(at) != null);
                }
            }
            case "java.util.IdentityHashMap" -> {
                List<Value> pairs = values(map, "table");
                for (int at = 0; at + 1 < pairs.size() && found.size() < most; at += 2) {
                    add(found, pairs.get(at), pairs.get(at + 1), pairs.get(at) != null);
                }
            }
            case "java.util.Hashtable" -> addChains(found, map, "key", most);
            case "java.util.WeakHashMap" -> addChains(found, map, "referent", most);
            case CONCURRENT + "ConcurrentSkipListMap" -> {
                Value index = Throwables.read(map, "head");
                while (index instanceof ObjectReference one
                        && Throwables.read(one, "down") instanceof ObjectReference lower) {
                    index = lower;
                }
                Value base = index instanceof ObjectReference one ? Throwables.read(one, "node") : null;
                addChain(found, base, "key", "val", most);
            }
            default -> { }
        }
        return found;
    }

    private static void addChains(
            List<Containers.Entry> found, ObjectReference map, String key, int most) {
        for (Value bucket : values(map, "table")) {
            addChain(found, bucket, key, "value", most);
        }
    }

    private static void addChain(
            List<Containers.Entry> found, Value first, String key, String value, int most) {
        Value node = first;
        while (node instanceof ObjectReference one && found.size() < most) {
            Value content = Throwables.read(one, value);
            add(found, Throwables.read(one, key), content, content != null);
            node = Throwables.read(one, "next");
        }
    }

    /** Adds an entry; the null that a map stands for by an object of its own is null again. */
    private static void add(
            List<Containers.Entry> found, Value key, Value value, boolean isThere) {
        if (isThere) {
            found.add(new Containers.Entry(Containers.unmask(key), Containers.unmask(value)));
        }
    }

    private static List<Value> values(ObjectReference object, String field) {
        return Throwables.read(object, field) instanceof ArrayReference array && array.length() > 0
                ? array.getValues(0, Math.min(array.length(), SCAN_MAX)) : List.of();
    }

    private static int number(ObjectReference object, String field) {
        return ((IntegerValue) Throwables.read(object, field)).value();
    }
}
