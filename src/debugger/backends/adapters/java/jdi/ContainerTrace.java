package debugger.jdi;

import com.sun.jdi.ClassType;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Follows what calls of the library give: elements of containers, inputs, and what it computes. */
final class ContainerTrace {
    private static final Set<String> READS = Set.of("get", "getOrDefault", "next", "previous", "poll",
            "peek", "element", "getFirst", "getLast", "pop", "pollFirst", "pollLast", "peekFirst",
            "peekLast", "elementAt", "take", "remove");
    private static final Set<String> CONTENTS = Set.of(
            "size", "isEmpty", "contains", "containsKey", "containsValue", "indexOf");
    private static final Set<String> IF_ABSENT = Set.of("computeIfAbsent", "putIfAbsent");
    private static final Set<String> INPUT_TYPES = Set.of("java.util.Scanner", "java.io.BufferedReader",
            "java.io.InputStream", "java.io.Reader", "java.nio.file.Files", "java.util.Random",
            "java.util.concurrent.ThreadLocalRandom", "java.io.DataInputStream", "java.io.Console",
            "java.security.SecureRandom", "java.net.Socket");
    private static final Set<String> INPUT_CALLS = Set.of("java.lang.System.getenv",
            "java.lang.System.getProperty", "java.lang.System.currentTimeMillis",
            "java.lang.System.nanoTime", "java.lang.Math.random", "java.util.UUID.randomUUID");
    /** Classes, or the beginnings of their names, whose objects hold what calls put into them. */
    private static final List<String> STATEFUL = List.of("java.lang.StringBuilder",
            "java.lang.StringBuffer", "java.util.StringJoiner", "java.util.concurrent.atomic.",
            "java.util.BitSet", "java.util.regex.Matcher", "java.nio.", "java.io.StringWriter",
            "java.io.ByteArrayOutputStream");
    private static final Map<String, String> WRAPPERS = Map.of("int", "Integer", "long", "Long",
            "short", "Short", "byte", "Byte", "char", "Character", "double", "Double",
            "float", "Float", "boolean", "Boolean");
    private static final int ENTRIES_MAX = 10_000;
    private static final int CONTAINERS_MAX = 4;
    private static final int KEYS_SHOWN = 4;
    private static final int CHANGES_SHOWN = 3;

    private final ValueTrace trace;

    ContainerTrace(ValueTrace trace) {
        this.trace = trace;
    }

    /** Tells whether a call reads an element of a container. */
    static boolean isRead(ValueNode.Call call) {
        return call.receiver != null && READS.contains(call.method.name())
                && call.method.type().startsWith("java.util.")
                || CONTENTS.contains(call.method.name()) || IF_ABSENT.contains(call.method.name());
    }

    /** Follows a call of the library's code, whose receiver is known or null. */
    ValueTrace.Cursor followLibrary(
            ValueTrace.Cursor at, ValueNode.Call call, ObjectReference receiver) {
        String type = call.method.type();
        String name = call.method.name();
        boolean isInput = INPUT_CALLS.contains(type + "." + name) || INPUT_TYPES.contains(type)
                || (type.startsWith("java.time.") && name.equals("now"));
        if (isInput) {
            return trace.report().end("input", Names.shorten(type) + "." + name + " gave it at "
                    + trace.report().place(at.frame()));
        }
        if (trace.isChangedLoop(at, call)) {
            return followChange(at, call);
        }
        if (type.equals("java.util.Objects") && name.startsWith("requireNonNull")) {
            return at.to(call.arguments.get(0));
        }
        if (call.receiver != null && READS.contains(name)) {
            ValueNode node = call.receiver;
            ObjectReference container = receiver;
            if (container == null || Containers.size(container) < 0) {
                node = findIterated(at, call);
                ValueReader.Known known = node == null ? null : trace.read(node, at);
                container = known != null && known.value() instanceof ObjectReference one
                        ? one : null;
            }
            if (container != null && Containers.size(container) >= 0) {
                boolean isKeyed = Containers.isMap(container) && name.startsWith("get")
                        && !call.arguments.isEmpty();
                if (isKeyed) {
                    return followKey(at, call, container);
                }
                boolean isUnknown = at.value() == null
                        || !(at.value().value() instanceof ObjectReference);
                if (isUnknown && mustAskRemoved(at, call)) {
                    return trace.report().pause("which item " + CodeText.of(call, at.method())
                            + " gave is seen by a further run");
                }
                ValueReader.Known removed = isUnknown ? findRemoved(at, call) : null;
                return followItem(removed == null ? at : new ValueTrace.Cursor(
                        at.node(), at.moment(), at.index(), removed), node, container);
            }
        }
        boolean isContent = receiver != null && CONTENTS.contains(name)
                && Containers.size(receiver) >= 0;
        if (isContent) {
            return followContents(at, call, receiver);
        }
        if (receiver != null && IF_ABSENT.contains(name) && Containers.isMap(receiver)) {
            return followKey(at, call, receiver);
        }
        Value key = name.equals("getValue") && receiver != null
                ? Throwables.read(receiver, "key") : null;
        ValueNode.Call entries = key == null ? null : findEntrySet(at, call.receiver);
        ValueReader.Known map = entries == null ? null : trace.read(entries.receiver, at);
        if (map != null && map.value() instanceof ObjectReference one && Containers.isMap(one)) {
            return followEntry(at, entries, new ValueReader.Known(key), one);
        }
        boolean isState = (call.receiver instanceof ValueNode.Local
                || call.receiver instanceof ValueNode.FieldRead)
                && STATEFUL.stream().anyMatch(type::startsWith);
        if (isState) {
            // Where the object was made says nothing of what it holds now.
            return trace.report().end("not followed", "the calls that changed "
                    + CodeText.of(call.receiver, at.method()) + " up to there");
        }
        boolean isMaker = Set.of("of", "asList", "copyOf", "singletonList").contains(name);
        return isMaker ? followMaker(at, call) : trace.followOperands(at, call, call.parts());
    }

    // -- removed items -----------------------------------------------------------------------------

    /** Returns what a call has removed from its container, where that was recorded; or null. */
    ValueReader.Known findRemoved(ValueTrace.Cursor at, ValueNode.Call call) {
        String record = recordOfRemoval(at, call);
        return record == null || trace.recorder() == null || !trace.recorder().records(record) ? null
                : RemovedItems.find(at, call,
                        trace.recorder().before(record, at.moment().number()));
    }

    /** Tells whether a value is an item that a call has removed, which is not recorded yet. */
    boolean mustAskRemoved(ValueTrace.Cursor at, ValueNode node) {
        ValueNode removed = node instanceof ValueNode.Operation cast
                && cast.operator.equals("(cast)") ? cast.operands.get(0) : node;
        String record = removed instanceof ValueNode.Call call ? recordOfRemoval(at, call) : null;
        return record != null && trace.plan().mustAsk(record);
    }

    /** Returns the key of the changes that a call is one of; null for another call. */
    private String recordOfRemoval(ValueTrace.Cursor at, ValueNode.Call call) {
        boolean isRemoval = call.receiver != null && RemovedItems.isRemoval(call.method.name());
        ValueReader.Known known = isRemoval ? trace.read(call.receiver, at) : null;
        return known != null && known.value() instanceof ObjectReference container
                && Containers.size(container) >= 0 && !Containers.isMap(container)
                ? "changes " + unwrap(container).referenceType().name() : null;
    }

    /** Returns the tree of the container that a loop's iterator goes through; null if unknown. */
    ValueNode findIterated(ValueTrace.Cursor at, ValueNode.Call call) {
        ValueNode made = ValueTrace.resolve(call.receiver, at.method());
        while (made instanceof ValueNode.Call inner && inner.receiver != null
                && Set.of("iterator", "listIterator", "values", "keySet", "stream")
                        .contains(inner.method.name())) {
            made = ValueTrace.resolve(inner.receiver, at.method());
        }
        return made == call.receiver ? null : made;
    }

    /** Returns the call of `entrySet` that an entry of a loop comes from; null if it is another. */
    private ValueNode.Call findEntrySet(ValueTrace.Cursor at, ValueNode entry) {
        StackAnalysis.Write only = entry instanceof ValueNode.Local local
                ? StackAnalysis.of(at.method()).onlyStore(local) : null;
        ValueNode turn = only == null ? entry : only.value();
        boolean isTurn = turn instanceof ValueNode.Call next && next.method.name().equals("next");
        return isTurn && findIterated(at, (ValueNode.Call) turn) instanceof ValueNode.Call entries
                && entries.method.name().equals("entrySet") && entries.receiver != null
                ? entries : null;
    }

    /** Ends with the changes of a container, whose contents gave a value. */
    private ValueTrace.Cursor followContents(
            ValueTrace.Cursor at, ValueNode.Call call, ObjectReference container) {
        ChainReport report = trace.report();
        String text = CodeText.of(call.receiver, at.method());
        ObjectReference inner = unwrap(container);
        String record = "changes " + inner.referenceType().name();
        if (trace.plan().mustAsk(record)) {
            return report.pause("what changed " + text + " is seen by a further run");
        }
        List<Moment> changes = trace.recorder().before(record, at.moment().number()).stream()
                .filter(one -> inner.equals(one.object()) && one.firstOwn() > 0).toList();
        if (changes.isEmpty() && !trace.recorder().isCut()) {
            report.add("loaded", "nothing was seen to change " + text, at.moment(), at.index());
            return new ValueTrace.Cursor(call.receiver, at.moment(), at.index(),
                    new ValueReader.Known(container));
        } else if (changes.isEmpty()) {
            return trace.endUnseen("no change of " + text + " was recorded");
        }
        Moment last = changes.get(0);
        report.add("written", text + " changed, the last time by " + name(last), last,
                last.firstOwn());
        int shown = Math.min(changes.size(), 1 + CHANGES_SHOWN);
        for (Moment one : changes.subList(1, shown)) {
            report.addDetail("before by " + name(one) + " at " + report.path(one));
        }
        return report.end("not followed", text + " was changed " + changes.size()
                + (changes.size() == 1 ? " time" : " times") + " up to there");
    }

    /** Follows a container that was changed while a loop went through it to its last change. */
    ValueTrace.Cursor followChange(ValueTrace.Cursor at, ValueNode.Call next) {
        ChainReport report = trace.report();
        ValueNode node = findIterated(at, next);
        ValueReader.Known known = node == null ? null : trace.read(node, at);
        if (known == null || !(known.value() instanceof ObjectReference container)) {
            return report.end("not followed", "the container of the loop is not known");
        }
        String text = CodeText.of(node, at.method());
        ObjectReference inner = unwrap(container);
        String record = "changes " + inner.referenceType().name();
        if (trace.plan().mustAsk(record)) {
            return report.pause("what changed " + text + " is seen by a further run");
        }
        for (Moment one : trace.recorder().before(record, at.moment().number())) {
            if (inner.equals(one.object()) && one.firstOwn() > 0) {
                report.add("written", text + " changed by " + name(one) + " while the loop goes through"
                        + " it", one, one.firstOwn());
                return report.end("not followed", "the last change before the loop's next turn");
            }
        }
        return trace.endUnseen("no change of " + text + " was seen");
    }

    private static ObjectReference unwrap(ObjectReference container) {
        ObjectReference inner = Containers.inner(container);
        return inner == null || inner.equals(container) ? container : inner;
    }

    private ValueTrace.Cursor followMaker(ValueTrace.Cursor at, ValueNode.Call call) {
        return trace.report().end("not followed", "the library made it by "
                + CodeText.of(call, at.method()) + " at " + trace.report().place(at.frame()));
    }

    // -- maps --------------------------------------------------------------------------------------

    private ValueTrace.Cursor followKey(
            ValueTrace.Cursor at, ValueNode.Call call, ObjectReference map) {
        ValueReader.Known key = trace.read(call.arguments.get(0), at);
        return key == null ? endWithNewKey(at, call, map) : followEntry(at, call, key, map);
    }

    /** Follows what a map has for a key to the call that put it; `call` read it from there. */
    private ValueTrace.Cursor followEntry(ValueTrace.Cursor at, ValueNode.Call call,
            ValueReader.Known key, ObjectReference map) {
        ChainReport report = trace.report();
        String text = CodeText.of(call.receiver, at.method());
        ObjectReference inner = unwrap(map);
        boolean isObject = at.value() != null && at.value().value() instanceof ObjectReference;
        String record = "changes " + inner.referenceType().name();
        if (trace.plan().mustAsk(record)) {
            call.parts().forEach(one -> trace.plan().suppose(at.method(), one));
            return report.pause("what was put into " + text + " is seen by a further run");
        }
        Moment first = null;  // of the calls that put it only if it is not there
        for (Moment one : trace.recorder().before(record, at.moment().number())) {
            // Two keys may be equal and not one object: then the value tells the call.
            boolean isIt = inner.equals(one.object()) && !one.arguments().isEmpty()
                    && (ValueReader.isSame(one.arguments().get(0), key.value())
                    || isObject && one.arguments().size() > 1
                    && at.value().value().equals(one.arguments().get(1)));
            boolean isRemoved = isIt && name(one).equals("remove");
            if (isIt && IF_ABSENT.contains(name(one))) {
                first = one;
            } else if (isIt && !(isRemoved && first != null)) {
                return followPut(at, one, text + " for the key " + report.text(key));
            } else if (isIt) {
                break;
            }
            boolean isWhole = first == null && inner.equals(one.object())
                    && Set.of("clear", "putAll", "<init>").contains(name(one));
            if (isWhole) {
                int own = Math.max(0, one.firstOwn());
                report.add("written", text + " was filled or emptied by " + name(one), one, own);
                return report.end("not followed", "its entries are not told apart there");
            }
        }
        if (first != null) {
            return followPut(at, first, text + " for the key " + report.text(key));
        }
        if (trace.recorder().isCut()) {
            return trace.endUnseen("no put of the key " + report.text(key) + " was recorded");
        }
        boolean isMissing = at.value() == null || at.value().value() == null;
        if (!call.arguments.isEmpty() && (isMissing || call.arguments.size() > 1)) {
            return endMissing(at, call, inner, key);
        }
        return trace.endUnseen("no call that put it into " + text + " was seen");
    }

    /** Ends where the key is not known, as one that the call itself makes. */
    private ValueTrace.Cursor endWithNewKey(
            ValueTrace.Cursor at, ValueNode.Call call, ObjectReference map) {
        ChainReport report = trace.report();
        boolean isMissing = at.value() != null && at.value().value() == null
                && call.arguments.get(0) instanceof ValueNode.Created;
        String type = isMissing ? ((ValueNode.Created) call.arguments.get(0)).type : "";
        for (Containers.Entry one : Containers.entries(map, ENTRIES_MAX)) {
            boolean isLike = one.value() != null && one.key() instanceof ObjectReference key
                    && key.referenceType().name().equals(type) && !Names.isLibrary(type)
                    && explainEquality(key).contains(" has no ");
            if (isLike) {
                report.add("loaded", CodeText.of(call.receiver, at.method())
                        + " has no entry for the new " + Names.shorten(type), at.moment(), at.index());
                report.addDetail(explainEquality(one.key()) + ": another object is another key");
                return report.end("not followed", "a new object finds no entry there");
            }
        }
        return trace.followOperands(at, call, call.parts());
    }

    private static String name(Moment moment) {
        return moment.frames().get(0).method().name();
    }

    private ValueTrace.Cursor followPut(ValueTrace.Cursor at, Moment put, String what) {
        ChainReport report = trace.report();
        int own = put.firstOwn();
        if (own < 0) {
            return report.end("not followed", "the library itself changed " + what);
        }
        boolean isPut = put.arguments().size() > 1 && name(put).startsWith("put");
        String verb = name(put).equals("remove") ? "removed from " : "put into ";
        report.add("written", verb + what, put, own);
        if (isPut) {
            report.last().put("new", report.text(new ValueReader.Known(put.arguments().get(1))));
        }
        ValueNode.Call call = callOf(put, own);
        boolean isFollowed = isPut && call != null && call.arguments.size() > 1
                && (at.value() == null
                || ValueReader.isSame(put.arguments().get(1), at.value().value()));
        return isFollowed ? new ValueTrace.Cursor(call.arguments.get(1), put, own,
                new ValueReader.Known(put.arguments().get(1)))
                : report.end("not followed", "by " + name(put) + " at "
                        + report.place(put.frames().get(own)));
    }

    private static ValueNode.Call callOf(Moment moment, int own) {
        RecordedFrame frame = moment.frames().get(own);
        ValueNode.Call call = StackAnalysis.of(frame.method()).callAt(frame.code());
        return call != null && (own == 1 || ValueRecorder.isChange(call.method.name()))
                ? call : null;
    }

    /** Ends, or goes on with the key, where a map never had an entry for it. */
    private ValueTrace.Cursor endMissing(ValueTrace.Cursor at, ValueNode.Call call,
            ObjectReference map, ValueReader.Known key) {
        ChainReport report = trace.report();
        String text = CodeText.of(call.receiver, at.method());
        report.add("loaded", text + " has no entry for the key " + report.text(key), at.moment(),
                at.index());
        List<Containers.Entry> entries = Containers.entries(map, ENTRIES_MAX);
        List<String> keys = new ArrayList<>();
        String wanted = report.text(key);
        for (Containers.Entry one : entries) {
            String other = report.text(new ValueReader.Known(one.key()));
            if (other != null && other.equals(wanted)) {
                report.addDetail("a key that looks the same is there, and is another object: "
                        + explainDifference(one.key(), key.value()));
                return report.end("not followed", "the two keys are not equal");
            }
            boolean isNear = other != null && plain(other).equals(plain(wanted));
            keys.add(isNear ? 0 : keys.size(), other);
        }
        List<String> shown = keys.subList(0, Math.min(keys.size(), KEYS_SHOWN));
        report.addDetail("its keys: " + String.join(", ", shown)
                + (keys.size() > shown.size() ? ", … (" + keys.size() + ")" : ""));
        boolean isDefault = call.arguments.size() > 1;  // getOrDefault
        return isDefault ? at.to(call.arguments.get(1))
                : new ValueTrace.Cursor(call.arguments.get(0), at.moment(), at.index(), key);
    }

    private static String plain(String text) {
        return text.replaceAll("[^\\p{L}\\p{N}]", "").toLowerCase(Locale.ROOT);
    }

    /** Explains why a key with the same text as the wanted one is another one. */
    private static String explainDifference(Value key, Object wanted) {
        String name = key == null ? "null" : Names.shorten(key.type().name());
        String other = wanted instanceof PrimitiveValue plain
                ? WRAPPERS.getOrDefault(plain.type().name(), plain.type().name())
                : wanted instanceof ObjectReference object
                ? Names.shorten(object.referenceType().name()) : name;
        return name.equals(other) ? explainEquality(key)
                : "a " + name + ", and what is looked for is a " + other;
    }

    private static String explainEquality(Value key) {
        if (!(key instanceof ObjectReference object)
                || !(object.referenceType() instanceof ClassType type)) {
            return "of another type";
        }
        String name = Names.shorten(type.name());
        boolean hasEquals = isDefined(type, "equals", "(Ljava/lang/Object;)Z");
        boolean hasHash = isDefined(type, "hashCode", "()I");
        return hasEquals && hasHash ? name + " has equals and hashCode: one of them tells them apart, or "
                + "the key was changed after it was put"
                : name + " has no " + (hasEquals ? "hashCode" : hasHash ? "equals" : "equals and hashCode")
                + " of its own";
    }

    private static boolean isDefined(ClassType type, String name, String descriptor) {
        Method method = type.concreteMethodByName(name, descriptor);
        return method != null && !method.declaringType().name().equals("java.lang.Object");
    }

    // -- lists -------------------------------------------------------------------------------------

    /** Follows an item that the library passed to a lambda. */
    ValueTrace.Cursor followStreamed(
            ValueTrace.Cursor at, String name, StreamedItems.Source source) {
        ValueTrace.Cursor from = new ValueTrace.Cursor(
                source.node(), at.moment(), source.index(), at.value());
        String text = CodeText.of(source.node(), from.method());
        trace.report().add("loaded", name + " is an item of " + text + ", which the library passed to "
                + "the lambda", at.moment(), source.index()).put("new", trace.report().text(at.value()));
        trace.report().markInferred();
        return followItem(from, source.node(), source.container());
    }

    /** Follows an element to the call that put this very object into the container. */
    private ValueTrace.Cursor followItem(
            ValueTrace.Cursor at, ValueNode node, ObjectReference container) {
        ChainReport report = trace.report();
        String text = CodeText.of(node, at.method());
        boolean isKnown = at.value() != null && (at.value().value() == null
                || at.value().value() instanceof ObjectReference);
        if (!isKnown) {
            return report.end("not followed", "it is an element of " + text + " at "
                    + report.place(at.frame()));
        }
        ObjectReference item = (ObjectReference) at.value().value();
        ObjectReference inner = unwrap(container);
        for (int level = 0; level < CONTAINERS_MAX; level++) {
            String record = "changes " + inner.referenceType().name();
            boolean isImmutable = inner.referenceType().name().contains("Immutable")
                    || inner.referenceType().name().endsWith("Arrays$ArrayList");
            if (isImmutable) {
                return new ValueTrace.Cursor(node, at.moment(), at.index(),
                        new ValueReader.Known(container));
            }
            if (trace.plan().mustAsk(record)) {
                trace.plan().suppose(at.method(), node);
                return report.pause("what was put into " + text + " is seen by a further run");
            }
            Moment whole = null;
            for (Moment one : trace.recorder().before(record, at.moment().number())) {
                if (inner.equals(one.object()) && one.arguments().contains(item)) {
                    return followAdded(at, one, item, text, record);
                }
                boolean isCopy = whole == null && inner.equals(one.object())
                        && one.arguments().stream().anyMatch(from -> holds(from, item));
                whole = isCopy ? one : whole;
            }
            if (whole == null || whole.firstOwn() < 0) {
                return trace.endUnseen("no call that put it into " + text + " was seen");
            }
            report.add("copied", "copied into " + text + " by " + name(whole), whole,
                    whole.firstOwn());
            inner = unwrap((ObjectReference) whole.arguments().stream()
                    .filter(from -> holds(from, item)).findFirst().orElseThrow());
        }
        return report.end("bound", "after " + CONTAINERS_MAX + " containers");
    }

    private static boolean holds(Value container, ObjectReference item) {
        if (!(container instanceof ObjectReference object) || Containers.size(object) < 0
                || Containers.isMap(object)) {
            return false;
        }
        List<Value> items = Containers.readItems(object, 0, ENTRIES_MAX);
        return items != null && items.contains(item);
    }

    private ValueTrace.Cursor followAdded(
            ValueTrace.Cursor at, Moment added, ObjectReference item, String text, String record) {
        ChainReport report = trace.report();
        int own = added.firstOwn();
        if (own < 0) {
            return report.end("not followed", "the library put it into " + text);
        }
        ValueNode.Call made = callOf(added, own);  // push, which calls addFirst
        String name = made == null ? name(added) : made.method.name();
        report.add("written", "put into " + text + " by " + name, added, own)
                .put("new", report.text(at.value()));
        ValueTrace.Cursor given = followArgument(at, added, item);
        if (given != null) {
            return given;
        }
        Moment earlier = findEarlier(at, added, item, record);
        if (earlier != null) {
            report.add("written", "the same object was put into another container by " + name(earlier),
                    earlier, earlier.firstOwn());
            return followArgument(at, earlier, item);
        }
        return report.end("not followed", "by the library, called at "
                + report.place(added.frames().get(own)));
    }

    /** Follows what the program's own call passed; null where the library made the call. */
    private ValueTrace.Cursor followArgument(ValueTrace.Cursor at, Moment added, ObjectReference item) {
        int own = added.firstOwn();
        ValueNode.Call call = own < 0 ? null : callOf(added, own);
        int place = added.arguments().indexOf(item);
        return call != null && place < call.arguments.size()
                ? new ValueTrace.Cursor(call.arguments.get(place), added, own, at.value()) : null;
    }

    /**
     * Finds where the program itself put an object into a container before the library put it into another
     * one, as a collector of a stream does. Texts, boxed numbers and constants of an enum are shared.
     */
    private Moment findEarlier(
            ValueTrace.Cursor at, Moment added, ObjectReference item, String record) {
        if (item == null) {
            return null;
        }
        String type = Names.shorten(item.referenceType().name());
        boolean isEnum = item.referenceType() instanceof ClassType own && own.isEnum();
        if (isEnum || type.equals("String") || WRAPPERS.containsValue(type)) {
            return null;
        }
        for (Moment one : trace.recorder().before(record, added.number())) {
            if (one.arguments().contains(item) && followArgument(at, one, item) != null) {
                return one;
            }
        }
        return null;
    }
}
