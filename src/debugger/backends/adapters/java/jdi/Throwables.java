package debugger.jdi;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.ArrayReference;
import com.sun.jdi.Field;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.Location;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.StackFrame;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Reads exceptions of the program. */
final class Throwables {
    static final String TRACE = "Java";  // the stratum of a trace, also of inlined code
    private static final int CAUSES_MAX = 10;
    // Exceptions that have their cause in a field of their own: the first still in JDK 25, the others until 11.
    private static final Map<String, String> OWN_CAUSES = Map.of(
            "java.lang.reflect.InvocationTargetException", "target",
            "java.lang.reflect.UndeclaredThrowableException", "undeclaredThrowable",
            "java.lang.ExceptionInInitializerError", "exception",
            "java.lang.ClassNotFoundException", "ex",
            "java.security.PrivilegedActionException", "exception");
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

    /** Returns the cause of an exception; null without one. */
    static ObjectReference cause(ObjectReference thrown) {
        // An exception without a cause is its own cause, until one is set.
        if (read(thrown, "cause") instanceof ObjectReference cause && !cause.equals(thrown)) {
            return cause;
        }
        String field = OWN_CAUSES.get(thrown.referenceType().name());
        return field != null && read(thrown, field) instanceof ObjectReference own ? own : null;
    }

    static Value read(ObjectReference object, String name) {
        Field field = object.referenceType().fieldByName(name);
        return field == null ? null : object.getValue(field);
    }

    /** Describes an exception with its causes (DAP: ExceptionDetails). */
    static Map<String, Object> describe(
            Calls calls, ThreadReference thread, ObjectReference thrown, Location thrownAt) {
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
            String origin = one == thrown ? locateOrigin(calls, thread, one, thrownAt) : "";
            if (!origin.isEmpty()) {
                details = Client.fields("typeName", name, "fullTypeName", name,
                        "message", join(messageOf(calls, thread, one), origin),
                        "innerException", details == null ? null : List.of(details));
            }
            details = Client.fields(
                    "typeName", name,
                    "fullTypeName", name,
                    "message", join(messageOf(calls, thread, one),
                            one == thrown ? "" : locateCause(calls, thread, one)),
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
        List<String> places = ownPlaces(calls, thread, thrown);
        return places.isEmpty() ? "" : "in " + places.get(0);
    }

    /**
     * Returns where an exception was created that is thrown again elsewhere; "" for any other.
     *
     * A kept exception is thrown by another statement, that of a coroutine by the library that ran it.
     * `thrownAt` stands for the innermost place where a handler of the compiler's throws it again.
     */
    private static String locateOrigin(
            Calls calls, ThreadReference thread, ObjectReference thrown, Location thrownAt) {
        List<String> places = ownPlaces(calls, thread, thrown);
        try {
            for (StackFrame frame : thread.frames()) {
                boolean isMoved = thrownAt != null && frame.equals(thread.frame(0));
                Location stop = isMoved ? thrownAt : frame.location();
                if (!Names.isLibrary(stop.declaringType().name())) {
                    String place = describePlace(stop.declaringType().name(), stop.method().name(),
                            stop.sourceName(TRACE), stop.lineNumber(TRACE));
                    boolean isTop = frame.equals(thread.frame(0));
                    boolean isSame = isTop && !isMoved ? places.contains(place) : places.indexOf(place) == 0;
                    return places.isEmpty() || isSame ? "" : "created in " + places.get(0);
                }
            }
        } catch (IncompatibleThreadStateException | AbsentInformationException unknown) {
            // Its own trace tells the same.
        }
        return "";
    }

    /** Tells whether an exception was created in the program's own code, and not by this frame. */
    static boolean isThrownAgain(ObjectReference thrown, RecordedFrame frame) {
        if (!(read(thrown, "stackTrace") instanceof ArrayReference trace) || trace.length() == 0
                || !(trace.getValue(0) instanceof ObjectReference first)) {
            return false;  // nobody has asked for its frames
        }
        String type = text(read(first, "declaringClass"));
        boolean isHere = type.equals(frame.method().declaringType().name())
                && text(read(first, "methodName")).equals(frame.method().name());
        return !isHere && !Names.isLibrary(type);
    }

    /** Returns the frames of an exception's trace that are the program's own, the innermost first. */
    private static List<String> ownPlaces(
            Calls calls, ThreadReference thread, ObjectReference thrown) {
        List<String> places = new ArrayList<>();
        try {
            Value elements = calls.invoke(thread, thrown, "getStackTrace", List.of());
            if (elements instanceof ArrayReference array && array.length() > 0) {
                for (Value one : array.getValues(0, Math.min(FRAMES_MAX, array.length()))) {
                    ObjectReference element = (ObjectReference) one;
                    String type = text(read(element, "declaringClass"));
                    if (!Names.isLibrary(type)) {
                        int line = read(element, "lineNumber") instanceof IntegerValue number
                                ? number.value() : 0;
                        places.add(describePlace(type, text(read(element, "methodName")),
                                text(read(element, "fileName")), line));
                    }
                }
            }
        } catch (DebuggerException notCallable) {
            // The exception is named without them.
        }
        return places;
    }

    private static String join(String message, String place) {
        return message.isEmpty() || place.isEmpty() ? message + place : message + ", " + place;
    }

    private static String describePlace(String type, String method, String file, int line) {
        return Names.shorten(type) + "." + method + (line > 0 ? " " + file + ":" + line : "");
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

    static String text(Value value) {
        return value instanceof StringReference text ? text.value() : "";
    }
}
