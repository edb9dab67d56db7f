package debugger.jdi;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.Field;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Reads exceptions of the program. */
final class Throwables {
    private static final int CAUSES_MAX = 10;
    private static final int FRAMES_MAX = 200;

    private Throwables() {}

    /** Returns type and message: `shop.OrderError: order 3 has no items`. */
    static String summarize(ObjectReference thrown) {
        String message = message(thrown);
        return Names.full(thrown.referenceType().name()) + (message == null ? "" : ": " + message);
    }

    /** Returns the message that was given to the exception; null without one. */
    static String message(ObjectReference thrown) {
        return read(thrown, "detailMessage") instanceof StringReference text ? text.value() : null;
    }

    private static ObjectReference cause(ObjectReference thrown) {
        // An exception without a cause is its own cause, until one is set.
        return read(thrown, "cause") instanceof ObjectReference cause && !cause.equals(thrown)
                ? cause : null;
    }

    static Value read(ObjectReference object, String name) {
        Field field = object.referenceType().fieldByName(name);
        return field == null ? null : object.getValue(field);
    }

    /** Describes an exception with its causes (DAP: ExceptionDetails). */
    static Map<String, Object> describe(Calls calls, ThreadReference thread, ObjectReference thrown) {
        List<ObjectReference> chain = new ArrayList<>();
        for (ObjectReference one = thrown; one != null && chain.size() < CAUSES_MAX
                && !chain.contains(one); one = cause(one)) {
            chain.add(one);
        }
        Map<String, Object> details = null;
        StringBuilder trace = new StringBuilder();
        for (int index = chain.size() - 1; index >= 0; index--) {
            ObjectReference one = chain.get(index);
            String name = Names.full(one.referenceType().name());
            details = Client.fields(
                    "typeName", name,
                    "fullTypeName", name,
                    "message", messageOf(calls, thread, one)
                            + (one == thrown ? "" : locateCause(calls, thread, one)),
                    "innerException", details == null ? null : List.of(details));
        }
        for (ObjectReference one : chain) {
            String message = messageOf(calls, thread, one);
            trace.append(one == thrown ? "" : "Caused by: ")
                    .append(Names.full(one.referenceType().name()))
                    .append(message.isEmpty() ? "" : ": " + message).append('\n');
            appendFrames(trace, calls, thread, one);
        }
        details.put("stackTrace", trace.toString());
        return details;
    }

    /** Returns what getMessage() gives, which the JVM makes up for a NullPointerException. */
    private static String messageOf(Calls calls, ThreadReference thread, ObjectReference thrown) {
        String own = message(thrown);
        if (own != null) {
            return own;
        }
        try {
            Value value = calls.invoke(thread, thrown, "getMessage", List.of());
            return value instanceof StringReference text ? text.value() : "";
        } catch (DebuggerException notCallable) {
            return "";
        }
    }

    /** Returns where a cause was thrown, the first frame of the program's own; "" if unknown. */
    private static String locateCause(
            Calls calls, ThreadReference thread, ObjectReference thrown) {
        try {
            Value elements = calls.invoke(thread, thrown, "getStackTrace", List.of());
            if (elements instanceof ArrayReference array && array.length() > 0) {
                for (Value one : array.getValues(0, Math.min(FRAMES_MAX, array.length()))) {
                    ObjectReference element = (ObjectReference) one;
                    String type = text(read(element, "declaringClass"));
                    if (!Names.isLibrary(type)) {
                        Value line = read(element, "lineNumber");
                        boolean hasLine = line instanceof IntegerValue number && number.value() > 0;
                        String place = " " + text(read(element, "fileName")) + ":" + line;
                        return ", in " + Names.shorten(type) + "."
                                + text(read(element, "methodName")) + (hasLine ? place : "");
                    }
                }
            }
        } catch (DebuggerException notCallable) {
            // The cause is named without it.
        }
        return "";
    }

    private static void appendFrames(
            StringBuilder trace, Calls calls, ThreadReference thread, ObjectReference thrown) {
        try {
            Value elements = calls.invoke(thread, thrown, "getStackTrace", List.of());
            if (elements instanceof ArrayReference array) {
                for (Value one : array.getValues(0, Math.min(FRAMES_MAX, array.length()))) {
                    trace.append("\tat ").append(frame((ObjectReference) one)).append('\n');
                }
            }
        } catch (DebuggerException | IndexOutOfBoundsException notCallable) {
            // The frames of the stop show the same, but for those of the causes.
        }
    }

    private static String frame(ObjectReference element) {
        String file = text(read(element, "fileName"));
        Value line = read(element, "lineNumber");
        int number = line instanceof IntegerValue value ? value.value() : -1;
        return text(read(element, "declaringClass")) + "." + text(read(element, "methodName"))
                + "(" + (file.isEmpty() ? "Unknown Source" : number > 0 ? file + ":" + number : file)
                + ")";
    }

    private static String text(Value value) {
        return value instanceof StringReference text ? text.value() : "";
    }
}
