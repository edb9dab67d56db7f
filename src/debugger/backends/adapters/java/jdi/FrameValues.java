package debugger.jdi;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.LocalVariable;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.StackFrame;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The variables of a frame: its arguments, with `this`, and its other locals.
 *
 * They are read as a whole before any is formatted: a call of a toString() makes the frame invalid.
 */
record FrameValues(List<Variable> arguments, List<Variable> locals) {
    /** A variable, and the expression that gives its value; null where there is none. */
    record Variable(String name, Value value, String expression) {}

    static FrameValues read(FramePosition position) throws DebuggerException {
        StackFrame frame = position.frame();
        FrameValues found = new FrameValues(new ArrayList<>(), new ArrayList<>());
        ObjectReference self = frame.thisObject();
        if (self != null) {
            found.arguments.add(new Variable("this", self, "this"));
        }
        try {
            Map<String, LocalVariable> named = Kotlin.nameVariables(frame.visibleVariables());
            Map<LocalVariable, Value> values = named.isEmpty()
                    ? Map.of() : frame.getValues(new ArrayList<>(named.values()));
            named.forEach((name, one) -> (one.isArgument() ? found.arguments : found.locals)
                    .add(new Variable(name, values.get(one), name)));
        } catch (AbsentInformationException withoutVariables) {
            found.addUnnamed(frame);
        }
        return found;
    }

    /** Tells whether a name may be of an argument of a function without names of variables. */
    static boolean isUnnamed(String name) {
        return name.matches("arg\\d+");
    }

    /** Adds the arguments of a function that was compiled without the names of variables. */
    private void addUnnamed(StackFrame frame) {
        List<Value> values = frame.location().method().isNative()
                ? List.of() : frame.getArgumentValues();
        for (int index = 0; index < values.size(); index++) {
            arguments.add(new Variable("arg" + index, values.get(index), "arg" + index));
        }
    }
}
