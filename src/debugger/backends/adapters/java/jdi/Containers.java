package debugger.jdi;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.Field;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.Value;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Reads the collections and maps of java.util by their fields, without calling them.
 *
 * So nothing of the program runs, and they are shown in a paused thread, too. The names of the fields
 * are those of the JDK 8 to 25.
 */
final class Containers {
    static final int SCAN_MAX = 100_000;

    /** An entry of a map. */
    record Entry(Value key, Value value) {}

    private Containers() {}

    /** Returns the number of elements or entries; -1 if the object is no known container. */
    static int size(ObjectReference object) {
        String name = object.referenceType().name();
        switch (name) {
            case "java.util.ImmutableCollections$List12", "java.util.ImmutableCollections$Set12":
                return isEmptyMark(Throwables.read(object, "e1")) ? 1 : 2;
            case "java.util.ImmutableCollections$Map1", "java.util.Collections$SingletonList",
                    "java.util.Collections$SingletonSet", "java.util.Collections$SingletonMap":
                return 1;
            case "java.util.Collections$EmptyList", "java.util.Collections$EmptySet",
                    "java.util.Collections$EmptyMap":
                return 0;
            case "java.util.ImmutableCollections$ListN":
                return array(object, "elements").length();
            case "java.util.Arrays$ArrayList":
                return array(object, "a").length();
            case "java.util.concurrent.CopyOnWriteArrayList":
                return array(object, "array").length();
            case "java.util.ArrayDeque":
                return items(object).size();
            case "java.util.concurrent.ConcurrentHashMap":
                return entries(object).size();
            default:
                ObjectReference inner = inner(object);
                if (inner != null) {
                    return size(inner);
                }
                boolean isKnown = isList(object) || isMap(object);
                return isKnown && Throwables.read(object, "size") instanceof IntegerValue value
                        ? value.value() : -1;
        }
    }

    private static boolean is(ObjectReference object, String... names) {
        List<String> ancestry = Names.ancestry(object.referenceType());
        for (String name : names) {
            if (ancestry.contains(name)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isList(ObjectReference object) {
        return is(object, "java.util.ArrayList", "java.util.LinkedList", "java.util.PriorityQueue",
                "java.util.ImmutableCollections$SetN");
    }

    static boolean isMap(ObjectReference object) {
        ObjectReference inner = inner(object);
        return is(object, "java.util.HashMap", "java.util.TreeMap",
                "java.util.concurrent.ConcurrentHashMap", "java.util.ImmutableCollections$MapN",
                "java.util.ImmutableCollections$Map1", "java.util.Collections$SingletonMap",
                "java.util.Collections$EmptyMap")
                || (inner != null && isMap(inner) && is(object, "java.util.Map"));
    }

    /** Returns the container that another one wraps: of a HashSet its map, of a view its target. */
    private static ObjectReference inner(ObjectReference object) {
        String field = is(object, "java.util.HashSet") ? "map"
                : is(object, "java.util.TreeSet") ? "m"
                : is(object, "java.util.Collections$UnmodifiableCollection",
                        "java.util.Collections$SynchronizedCollection") ? "c"
                : is(object, "java.util.Collections$UnmodifiableMap",
                        "java.util.Collections$SynchronizedMap") ? "m" : null;
        return field != null && Throwables.read(object, field) instanceof ObjectReference inner
                ? inner : null;
    }

    private static boolean isEmptyMark(Value value) {
        // Since JDK 9 a lone element is marked by a plain Object in the place of the second.
        return value == null || (value instanceof ObjectReference object
                && object.referenceType().name().equals("java.lang.Object"));
    }

    private static ArrayReference array(ObjectReference object, String field) {
        return (ArrayReference) Throwables.read(object, field);
    }

    /** Returns some elements of a list, set or queue in order; null if it is no such container. */
    static List<Value> readItems(ObjectReference object, int start, int count) {
        if (is(object, "java.util.ArrayList") && start >= 0) {
            int size = size(object);
            int length = Math.min(count, size - start);
            return length <= 0 ? List.of() : array(object, "elementData").getValues(start, length);
        }
        if (size(object) < 0 || isMap(object)) {
            return null;
        }
        List<Value> all = items(object);
        return start < 0 || start >= all.size() ? List.of()
                : all.subList(start, Math.min(all.size(), start + count));
    }

    private static List<Value> items(ObjectReference object) {
        List<Value> found = new ArrayList<>();
        ObjectReference inner = inner(object);
        if (inner != null && isMap(inner)) {
            entries(inner).forEach(entry -> found.add(entry.key()));
            return found;
        }
        if (inner != null) {
            return items(inner);
        }
        String name = object.referenceType().name();
        switch (name) {
            case "java.util.ImmutableCollections$List12", "java.util.ImmutableCollections$Set12" -> {
                found.add(Throwables.read(object, "e0"));
                if (size(object) == 2) {
                    found.add(Throwables.read(object, "e1"));
                }
            }
            case "java.util.ImmutableCollections$ListN" -> addAll(found, array(object, "elements"));
            case "java.util.ImmutableCollections$SetN" -> {
                addAll(found, array(object, "elements"));
                found.removeIf(value -> value == null);
            }
            case "java.util.Arrays$ArrayList" -> addAll(found, array(object, "a"));
            case "java.util.concurrent.CopyOnWriteArrayList" ->
                    addAll(found, array(object, "array"));
            case "java.util.Collections$SingletonList", "java.util.Collections$SingletonSet" ->
                    found.add(Throwables.read(object, "element"));
            case "java.util.ArrayDeque" -> addRing(found, object);
            case "java.util.PriorityQueue" -> {
                addAll(found, array(object, "queue"));
                found.removeIf(value -> value == null);
            }
            default -> addNodes(found, object);
        }
        return found;
    }

    private static void addAll(List<Value> found, ArrayReference array) {
        if (array.length() > 0) {
            found.addAll(array.getValues(0, Math.min(array.length(), SCAN_MAX)));
        }
    }

    private static void addRing(List<Value> found, ObjectReference deque) {
        List<Value> slots = new ArrayList<>();
        addAll(slots, array(deque, "elements"));
        int head = ((IntegerValue) Throwables.read(deque, "head")).value();
        for (int index = 0; index < slots.size(); index++) {
            Value value = slots.get((head + index) % slots.size());
            if (value != null) {  // an ArrayDeque has no null elements
                found.add(value);
            }
        }
    }

    private static void addNodes(List<Value> found, ObjectReference list) {
        if (is(list, "java.util.ArrayList")) {
            found.addAll(readItems(list, 0, SCAN_MAX));
        } else if (is(list, "java.util.LinkedList")) {
            Value node = Throwables.read(list, "first");
            while (node instanceof ObjectReference one && found.size() < SCAN_MAX) {
                found.add(Throwables.read(one, "item"));
                node = Throwables.read(one, "next");
            }
        }
    }

    /** Returns the entries of a map in its own order. */
    static List<Entry> entries(ObjectReference map) {
        List<Entry> found = new ArrayList<>();
        ObjectReference inner = inner(map);
        String name = map.referenceType().name();
        if (inner != null) {
            return entries(inner);
        } else if (is(map, "java.util.LinkedHashMap")) {
            addChain(found, Throwables.read(map, "head"), "after");
        } else if (is(map, "java.util.TreeMap")) {
            addTree(found, Throwables.read(map, "root"));
        } else if (name.equals("java.util.ImmutableCollections$MapN")) {
            List<Value> slots = new ArrayList<>();
            addAll(slots, array(map, "table"));
            for (int index = 0; index + 1 < slots.size(); index += 2) {
                if (slots.get(index) != null) {
                    found.add(new Entry(slots.get(index), slots.get(index + 1)));
                }
            }
        } else if (name.endsWith("$Map1") || name.endsWith("$SingletonMap")) {
            boolean isNew = name.endsWith("$Map1");
            found.add(new Entry(Throwables.read(map, isNew ? "k0" : "k"),
                    Throwables.read(map, isNew ? "v0" : "v")));
        } else if (Throwables.read(map, "table") instanceof ArrayReference table) {
            List<Value> buckets = new ArrayList<>();
            addAll(buckets, table);
            for (Value bucket : buckets) {
                addChain(found, bucket, "next");
            }
        }
        return found;
    }

    private static void addChain(List<Entry> found, Value first, String next) {
        Value node = first;
        while (node instanceof ObjectReference one && found.size() < SCAN_MAX) {
            ReferenceType type = one.referenceType();
            Field value = type.fieldByName("value") != null
                    ? type.fieldByName("value") : type.fieldByName("val");
            Value key = Throwables.read(one, "key");
            if (value != null && key != null) {
                found.add(new Entry(key, one.getValue(value)));
            } else if (value != null && !type.name().contains("Concurrent")) {
                found.add(new Entry(null, one.getValue(value)));
            }
            node = Throwables.read(one, next);
        }
    }

    private static void addTree(List<Entry> found, Value root) {
        Deque<ObjectReference> above = new ArrayDeque<>();
        Value node = root;
        while ((node != null || !above.isEmpty()) && found.size() < SCAN_MAX) {
            while (node instanceof ObjectReference one) {
                above.push(one);
                node = Throwables.read(one, "left");
            }
            ObjectReference one = above.pop();
            found.add(new Entry(Throwables.read(one, "key"), Throwables.read(one, "value")));
            node = Throwables.read(one, "right");
        }
    }
}
