package debugger.jdi;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.BooleanValue;
import com.sun.jdi.CharValue;
import com.sun.jdi.ClassObjectReference;
import com.sun.jdi.ClassType;
import com.sun.jdi.Field;
import com.sun.jdi.ObjectCollectedException;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import com.sun.jdi.VoidValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Formats values as Java writes them: by their fields, without calling the program's code. */
final class Values {
    private static final int ITEMS_MAX = 10;
    private static final int FIELDS_MAX = 8;
    private static final int DEPTH_MAX = 2;
    private static final int INNER_TEXT_MAX = 100;
    private static final int TEXT_MAX = 1 << 16;
    private static final List<String> BOX_FIELDS = List.of("value", "element", "elem");
    // Immutable values of the JDK whose fields say little: their toString() has no effect.
    private static final Set<String> BY_TO_STRING = Set.of(
            "java.math.BigDecimal", "java.math.BigInteger", "java.util.UUID", "java.net.URI",
            "java.io.File", "sun.nio.fs.UnixPath", "java.util.Date", "java.lang.StringBuilder",
            "java.lang.StringBuffer", "java.util.regex.Pattern", "java.util.BitSet",
            "java.util.Locale");
    private static final Pattern ENTRY = Pattern.compile("java\\.util\\.(KeyValueHolder|Hashtable\\$Entry"
            + "|AbstractMap\\$Simple(Immutable)?Entry|(Hash|LinkedHash|Tree)Map\\$(Node|Entry|TreeNode))");

    private final Calls calls;

    Values(Calls calls) {
        this.calls = calls;
    }

    /** Returns the type as users write it, without packages: of an object what it really is. */
    static String typeName(Value value) {
        return value == null ? "null" : Names.shorten(value.type().name());
    }

    /** Formats a value; `thread` is where a toString() of the JDK may be called, or null. */
    String format(Value value, ThreadReference thread) {
        try {
            return format(value, thread, 0);
        } catch (ObjectCollectedException gone) {
            return "(collected)";
        }
    }

    private String format(Value value, ThreadReference thread, int depth) {
        if (value == null) {
            return "null";
        }
        if (value instanceof VoidValue) {
            return "void";
        }
        if (value instanceof CharValue letter) {
            return quote(String.valueOf(letter.value()), '\'');
        }
        if (value instanceof PrimitiveValue) {
            return value.toString();
        }
        if (value instanceof StringReference text) {
            return clip(text.value(), depth);
        }
        if (value instanceof ArrayReference array) {
            String text = Bytes.format(array);
            return text != null ? text
                    : formatItems("{", array.length(), items(array, 0, ITEMS_MAX), "}", thread, depth);
        }
        ObjectReference object = (ObjectReference) value;
        Object plain = Arithmetic.unbox(object);
        return plain instanceof PrimitiveValue content
                ? format(content, thread, depth) : formatObject(object, thread, depth);
    }

    private static String clip(String text, int depth) {
        int most = depth == 0 ? TEXT_MAX : INNER_TEXT_MAX;
        return text.length() <= most ? quote(text, '"')
                : quote(text.substring(0, most), '"') + "…";
    }

    static String quote(String text, char mark) {
        StringBuilder result = new StringBuilder().append(mark);
        for (char letter : text.toCharArray()) {
            switch (letter) {
                case '\n' -> result.append("\\n");
                case '\t' -> result.append("\\t");
                case '\r' -> result.append("\\r");
                case '\\' -> result.append("\\\\");
                default -> {
                    if (letter == mark) {
                        result.append('\\').append(letter);
                    } else if (letter < ' ' || letter == 0x7f) {
                        result.append(String.format("\\u%04x", (int) letter));
                    } else {
                        result.append(letter);
                    }
                }
            }
        }
        return result.append(mark).toString();
    }

    private String formatItems(String open, int size, List<Value> shown, String close,
            ThreadReference thread, int depth) {
        List<String> texts = new ArrayList<>();
        for (Value one : depth < DEPTH_MAX ? shown : List.<Value>of()) {
            texts.add(format(one, thread, depth + 1));
        }
        if (size > texts.size()) {
            texts.add("…");
        }
        String all = open + String.join(", ", texts) + close;
        return size > shown.size() || texts.size() > shown.size() ? all + " (" + size + ")" : all;
    }

    private String formatObject(ObjectReference object, ThreadReference thread, int depth) {
        ReferenceType type = object.referenceType();
        String name = Names.shorten(type.name());
        if (object instanceof ClassObjectReference itself) {
            return Names.full(itself.reflectedType().name()) + ".class";
        }
        if (object instanceof ThreadReference one) {
            return "Thread[" + one.name() + "]";
        }
        List<String> ancestry = Names.ancestry(type);
        if (ancestry.contains("java.lang.Enum")) {
            return Throwables.read(object, "name") instanceof StringReference text
                    ? text.value() : name;
        }
        if (ancestry.contains("java.lang.Throwable")) {
            String message = Throwables.message(object);
            return message == null ? name : name + ": " + message;
        }
        int size = Containers.size(object);
        if (size >= 0) {
            return formatContainer(object, size, thread, depth);
        }
        String text = formatJdkValue(object, thread, depth);
        return text != null ? text : formatFields(object, name, thread, depth);
    }

    private String formatContainer(
            ObjectReference object, int size, ThreadReference thread, int depth) {
        if (!Containers.isMap(object)) {
            List<Value> items = Containers.readItems(object, 0, ITEMS_MAX);
            return formatItems("[", size, items, "]", thread, depth);
        }
        List<String> texts = new ArrayList<>();
        List<Containers.Entry> entries = depth < DEPTH_MAX
                ? Containers.entries(object, ITEMS_MAX) : List.of();
        for (Containers.Entry entry : entries.subList(0, Math.min(entries.size(), ITEMS_MAX))) {
            texts.add(format(entry.key(), thread, depth + 1) + "="
                    + format(entry.value(), thread, depth + 1));
        }
        boolean isCut = size > texts.size();
        return "{" + String.join(", ", texts) + (isCut ? (texts.isEmpty() ? "" : ", ") + "…" : "")
                + "}" + (isCut ? " (" + size + ")" : "");
    }

    /** Tells whether a class is that of a variable which a closure of Scala, Kotlin or Groovy assigns. */
    static boolean isCaptured(String type) {
        return type.equals("groovy.lang.Reference") || type.startsWith("kotlin.jvm.internal.Ref$")
                || (type.startsWith("scala.runtime.") && type.endsWith("Ref"));
    }

    /** Formats what the JDK's own classes hold; null for any other object. */
    private String formatJdkValue(ObjectReference object, ThreadReference thread, int depth) {
        String type = object.referenceType().name();
        if (type.equals("java.util.Optional")) {
            Value content = Throwables.read(object, "value");
            return content == null ? "Optional.empty"
                    : "Optional[" + format(content, thread, depth + 1) + "]";
        }
        if (ENTRY.matcher(type).matches()) {
            return format(Throwables.read(object, "key"), thread, depth + 1) + "="
                    + format(Throwables.read(object, "value"), thread, depth + 1);
        }
        if (type.startsWith("java.util.Optional")) {
            boolean isThere = Throwables.read(object, "isPresent") instanceof BooleanValue set && set.value();
            String name = Names.shorten(type);
            return !isThere ? name + ".empty"
                    : name + "[" + format(Throwables.read(object, "value"), thread, depth + 1) + "]";
        }
        boolean isBox = type.startsWith("java.util.concurrent.atomic.Atomic") || isCaptured(type);
        for (String field : isBox ? BOX_FIELDS : List.<String>of()) {
            if (object.referenceType().fieldByName(field) != null) {
                return format(Throwables.read(object, field), thread, depth);
            }
        }
        boolean isPlain = BY_TO_STRING.contains(type) || type.startsWith("java.time.")
                || type.startsWith("kotlin.ranges.") || type.startsWith("kotlin.time.");
        if (!isPlain || thread == null) {
            return null;
        }
        try {
            Value text = calls.invoke(thread, object, "toString", List.of());
            boolean isText = type.startsWith("java.lang.String");
            String plain = text instanceof StringReference one ? one.value() : "null";
            return isText ? clip(plain, depth) : plain;
        } catch (DebuggerException notCallable) {
            return null;
        }
    }

    private String formatFields(
            ObjectReference object, String name, ThreadReference thread, int depth) {
        boolean isRecord = object.referenceType() instanceof ClassType itself
                && itself.superclass() != null
                && itself.superclass().name().equals("java.lang.Record");
        if (name.contains("$$Lambda")) {
            return name.substring(0, name.indexOf("$$Lambda")) + " lambda";
        }
        List<Field> fields = instanceFields(object.referenceType());
        if (fields.isEmpty()) {
            return name + "@" + Long.toHexString(object.uniqueID());
        }
        List<String> texts = new ArrayList<>();
        if (depth < DEPTH_MAX) {
            List<Field> shown = fields.subList(0, Math.min(fields.size(), FIELDS_MAX));
            Map<Field, Value> values = object.getValues(shown);
            shown.forEach(field -> texts.add(
                    field.name() + "=" + format(values.get(field), thread, depth + 1)));
        }
        if (texts.size() < fields.size()) {
            texts.add("…");
        }
        String inner = String.join(", ", texts);
        if (Kotlin.isDataClass(object.referenceType())) {
            return name + "(" + inner + ")";
        }
        return name + (isRecord ? "[" + inner + "]" : "{" + inner + "}");
    }

    /** Returns the fields of an object, those of its superclasses first. */
    static List<Field> instanceFields(ReferenceType type) {
        List<Field> fields = new ArrayList<>();
        if (type instanceof ClassType itself && itself.superclass() != null) {
            fields.addAll(instanceFields(itself.superclass()));
        }
        for (Field field : type.fields()) {
            boolean isOfCompiler = field.name().startsWith("this$")
                    || field.typeName().equals("groovy.lang.MetaClass");
            if (!field.isStatic() && !isOfCompiler) {
                fields.add(field);
            }
        }
        return fields;
    }

    static List<Value> items(ArrayReference array, int start, int count) {
        int length = Math.min(count, array.length() - start);
        return length <= 0 || start < 0 ? List.of() : array.getValues(start, length);
    }

    /** Returns the number of elements that can be read in parts; null for other values. */
    static Integer indexed(Value value) {
        if (value instanceof ArrayReference array) {
            return array.length();
        }
        if (value instanceof ObjectReference object && !(value instanceof StringReference)) {
            int size = Containers.size(object);
            return size >= 0 ? size : null;
        }
        return null;
    }

    /** Tells whether a value has parts. */
    static boolean hasParts(Value value) {
        if (!(value instanceof ObjectReference object) || value instanceof StringReference
                || Arithmetic.unbox(value) instanceof PrimitiveValue) {
            return false;
        }
        Integer count = indexed(value);
        return count != null ? count > 0 : !instanceFields(object.referenceType()).isEmpty();
    }
}
