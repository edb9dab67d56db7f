package debugger.jdi;

import com.sun.jdi.LocalVariable;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.StackFrame;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;

/** A frame of an earlier moment: where it stood, and the values of its variables by their slots. */
record RecordedFrame(Location location, ObjectReference self, Map<Integer, Value> locals) {
    /** Reads a frame; without `hasValues` its location alone. */
    static RecordedFrame read(StackFrame frame, boolean hasValues) {
        Location location = frame.location();
        if (!hasValues || location.method().isNative()) {
            return new RecordedFrame(location, null, Map.of());
        }
        Map<LocalVariable, Integer> slots = new HashMap<>();
        for (LocalSlots.Variable one : LocalSlots.of(location.method())) {
            if (one.first() <= location.codeIndex() && location.codeIndex() <= one.last()) {
                slots.put(one.mirror(), one.slot());
            }
        }
        Map<Integer, Value> locals = new HashMap<>();
        if (!slots.isEmpty()) {
            frame.getValues(new ArrayList<>(slots.keySet()))
                    .forEach((variable, value) -> locals.put(slots.get(variable), value));
        }
        return new RecordedFrame(location, frame.thisObject(), locals);
    }

    /** Returns the frame as it stands at another instruction of its method; itself for none. */
    RecordedFrame at(int code) {
        Location other = code < 0 ? null : method().locationOfCodeIndex(code);
        return other == null ? this : new RecordedFrame(other, self, locals);
    }

    Method method() {
        return location.method();
    }

    long code() {
        return location.codeIndex();
    }

    boolean isOwn() {
        return isOwn(location);
    }

    /** Tells whether a location is in the program's code, and not in what the JVM makes of lambdas. */
    static boolean isOwn(Location location) {
        String type = location.declaringType().name();
        return !Names.isForeign(type) && !type.contains("$$Lambda");
    }
}
