package debugger.jdi;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.Field;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.LongValue;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.Value;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Reads the collections and maps of java.util by their fields, without calling them.
 *
 * So nothing of the program runs, and they are shown in a paused thread, too. The names of the fields
 * are those of the JDK 8 to 25.
 */
final class Containers {
    private static final int SCAN_MAX = 100_000;
    // Sets of a map's keys, and collections of its values.
    private static final Pattern MAP_VIEW =
            Pattern.compile("java\\.util\\..*\\$(Linked)?(Sub)?(KeySet|Values)(View)?");
    private static final Pattern NULL_MARKS = Pattern.compile("java\\.util\\.EnumMap\\$\\d");
    private static final int PART = 256;  // slots of a table that are read at once

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
                return items(object, SCAN_MAX).size();
            case "java.util.concurrent.ConcurrentHashMap":
                return sumCounters(object);
            default:
                ObjectReference inner = inner(object);
                if (inner != null) {
                    return size(inner);
                }
                int rare = RareContainers.size(object);
                boolean isKnown = isList(object) || isMap(object);
                return rare >= 0 ? rare : isKnown && Throwables.read(object, "size") instanceof IntegerValue value
                        ? value.value() : -1;
        }
    }

    /** Returns the size of a ConcurrentHashMap, which counts in several places. */
    private static int sumCounters(ObjectReference map) {
        long sum = ((LongValue) Throwables.read(map, "baseCount")).value();
        if (Throwables.read(map, "counterCells") instanceof ArrayReference cells) {
            for (Value cell : cells.getValues()) {
                sum += cell instanceof ObjectReference one
                        ? ((LongValue) Throwables.read(one, "value")).value() : 0;
            }
        }
        return (int) Math.max(0, Math.min(sum, Integer.MAX_VALUE));
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
                "java.util.Collections$EmptyMap") || RareContainers.isMap(object)
                || (inner != null && isMap(inner) && is(object, "java.util.Map"));
    }

    /** Returns the container that another one wraps: of a HashSet its map, of a view its target. */
    static ObjectReference inner(ObjectReference object) {
        String field = is(object, "java.util.HashSet", "java.util.Properties") ? "map"
                : is(object, "java.util.TreeSet", "java.util.concurrent.ConcurrentSkipListSet") ? "m"
                : is(object, "java.util.concurrent.CopyOnWriteArraySet") ? "al"
                : MAP_VIEW.matcher(object.referenceType().name()).matches() ? viewedField(object)
                : is(object, "java.util.Collections$UnmodifiableCollection",
                        "java.util.Collections$SynchronizedCollection") ? "c"
                : is(object, "java.util.Collections$UnmodifiableMap",
                        "java.util.Collections$SynchronizedMap") ? "m" : null;
        return field != null && Throwables.read(object, field) instanceof ObjectReference inner
                ? inner : null;
    }

    private static String viewedField(ObjectReference view) {
        return List.of("map", "m", "this$0").stream()
                .filter(one -> view.referenceType().fieldByName(one) != null).findFirst().orElse(null);
    }

    /** Returns null for the plain Object by which some maps stand for it. */
    static Value unmask(Value value) {
        boolean isMark = value instanceof ObjectReference object
                && NULL_MARKS.matcher(object.referenceType().name()).matches();
        return isMark ? null : value;
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
        // No more is read than is to be shown: each node of a large one costs a round trip.
        int end = (int) Math.min(SCAN_MAX, Math.max(0L, start) + count);
        List<Value> all = items(object, end);
        return start < 0 || start >= all.size() ? List.of()
                : all.subList(start, Math.min(all.size(), end));
    }

    private static List<Value> items(ObjectReference object, int most) {
        List<Value> found = new ArrayList<>();
        ObjectReference inner = inner(object);
        if (inner != null && isMap(inner)) {
            boolean isOfValues = object.referenceType().name().contains("Values");
            entries(inner, most).forEach(one -> found.add(isOfValues ? one.value() : one.key()));
            return found;
        }
        if (inner != null) {
            return items(inner, most);
        }
        String name = object.referenceType().name();
        switch (name) {
            case "java.util.ImmutableCollections$List12", "java.util.ImmutableCollections$Set12" -> {
                found.add(Throwables.read(object, "e0"));
                if (size(object) == 2) {
                    found.add(Throwables.read(object, "e1"));
                }
            }
            case "java.util.ImmutableCollections$ListN" ->
                    addSlots(found, array(object, "elements"), most);
            case "java.util.ImmutableCollections$SetN" ->
                    addFilled(found, array(object, "elements"), most);
            case "java.util.Arrays$ArrayList" -> addSlots(found, array(object, "a"), most);
            case "java.util.concurrent.CopyOnWriteArrayList" ->
                    addSlots(found, array(object, "array"), most);
            case "java.util.Collections$SingletonList", "java.util.Collections$SingletonSet" ->
                    found.add(Throwables.read(object, "element"));
            case "java.util.ArrayDeque" -> addRing(found, object, most);
            case "java.util.PriorityQueue" -> addFilled(found, array(object, "queue"), most);
            default -> addNodes(found, object, most);
        }
        return found;
    }

    private static void addSlots(List<Value> found, ArrayReference array, int most) {
        if (array.length() > 0 && most > 0) {
            found.addAll(array.getValues(0, Math.min(array.length(), most)));
        }
    }

    /** Adds the elements of an array that are not null. */
    private static void addFilled(List<Value> found, ArrayReference array, int most) {
        for (int at = 0; at < Math.min(array.length(), SCAN_MAX) && found.size() < most; at += PART) {
            for (Value one : array.getValues(at, Math.min(PART, array.length() - at))) {
                if (one != null && found.size() < most) {
                    found.add(one);
                }
            }
        }
    }

    private static void addRing(List<Value> found, ObjectReference deque, int most) {
        ArrayReference slots = array(deque, "elements");
        int head = ((IntegerValue) Throwables.read(deque, "head")).value();
        int first = Math.min(slots.length() - head, SCAN_MAX);
        List<Value> parts = new ArrayList<>(first > 0 ? slots.getValues(head, first) : List.of());
        if (parts.size() < most && head > 0) {
            parts.addAll(slots.getValues(0, Math.min(head, SCAN_MAX)));
        }
        for (Value value : parts) {
            if (value != null && found.size() < most) {  // an ArrayDeque has no null elements
                found.add(value);
            }
        }
    }

    private static void addNodes(List<Value> found, ObjectReference list, int most) {
        found.addAll(RareContainers.items(list, most));
        if (is(list, "java.util.ArrayList")) {
            found.addAll(readItems(list, 0, most));
        } else if (is(list, "java.util.LinkedList")) {
            Value node = Throwables.read(list, "first");
            while (node instanceof ObjectReference one && found.size() < most) {
                found.add(Throwables.read(one, "item"));
                node = Throwables.read(one, "next");
            }
        }
    }

    /** Returns the first entries of a map in its own order, `most` of them. */
    static List<Entry> entries(ObjectReference map, int most) {
        List<Entry> found = new ArrayList<>();
        ObjectReference inner = inner(map);
        String name = map.referenceType().name();
        if (inner != null) {
            return entries(inner, most);
        } else if (RareContainers.isMap(map)) {
            return RareContainers.entries(map, most);
        } else if (is(map, "java.util.LinkedHashMap")) {
            addChain(found, Throwables.read(map, "head"), "after", most);
        } else if (is(map, "java.util.TreeMap")) {
            addTree(found, Throwables.read(map, "root"), most);
        } else if (name.equals("java.util.ImmutableCollections$MapN")) {
            List<Value> filled = new ArrayList<>();
            // Keys and values are in turn, and neither is ever null.
            addFilled(filled, array(map, "table"), 2 * most);
            for (int index = 0; index + 1 < filled.size(); index += 2) {
                found.add(new Entry(filled.get(index), filled.get(index + 1)));
            }
        } else if (name.endsWith("$Map1") || name.endsWith("$SingletonMap")) {
            boolean isNew = name.endsWith("$Map1");
            found.add(new Entry(Throwables.read(map, isNew ? "k0" : "k"),
                    Throwables.read(map, isNew ? "v0" : "v")));
        } else if (Throwables.read(map, "table") instanceof ArrayReference table) {
            addBuckets(found, table, most);
        }
        return found;
    }

    private static void addBuckets(List<Entry> found, ArrayReference table, int most) {
        int length = Math.min(table.length(), SCAN_MAX);
        for (int at = 0; at < length && found.size() < most; at += PART) {
            for (Value bucket : table.getValues(at, Math.min(PART, length - at))) {
                addChain(found, bucket, "next", most);
            }
        }
    }

    private static void addChain(List<Entry> found, Value first, String next, int most) {
        Value node = first;
        while (node instanceof ObjectReference one && found.size() < most) {
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

    private static void addTree(List<Entry> found, Value root, int most) {
        Deque<ObjectReference> above = new ArrayDeque<>();
        Value node = root;
        while ((node != null || !above.isEmpty()) && found.size() < most) {
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
