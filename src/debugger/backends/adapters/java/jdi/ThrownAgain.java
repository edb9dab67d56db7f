package debugger.jdi;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.ArrayReference;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.Location;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds where an exception was thrown that a handler of the compiler's throws again.
 *
 * `finally`, `synchronized` and try-with-resources have such a handler; its line throws nothing.
 */
final class ThrownAgain {
    static final int THROW = 191;

    private ThrownAgain() {}

    /** Tells whether an instruction throws again what a handler without a name caught. */
    static boolean isBy(Location location) {
        StackAnalysis analysis = StackAnalysis.of(location.method());
        if (analysis == null || analysis.opcode(location.codeIndex()) != THROW) {
            return false;
        }
        List<ValueNode> stack = analysis.stackAt(location.codeIndex());
        ValueNode thrown = stack.isEmpty() ? null : stack.get(stack.size() - 1);
        if (!(thrown instanceof ValueNode.Local local)) {
            return thrown instanceof ValueNode.Caught;
        }
        StackAnalysis.Write store = analysis.onlyStore(local);
        return LocalSlots.find(location.method(), local.slot, location.codeIndex()) == null
                && store != null && store.value() instanceof ValueNode.Caught;
    }

    /** Tells whether the handler runs code of the program before: values may be other ones then. */
    static boolean changesValues(Location location) {
        StackAnalysis analysis = StackAnalysis.of(location.method());
        List<ValueNode> stack = analysis.stackAt(location.codeIndex());
        int first = stack.get(stack.size() - 1) instanceof ValueNode.Local local
                ? analysis.onlyStore(local).code() : (int) location.codeIndex();
        return analysis.writes().stream().anyMatch(
                        one -> one.code() > first && one.code() < location.codeIndex())
                || analysis.calls().stream().anyMatch(
                        one -> one.code > first && one.code < location.codeIndex());
    }

    /** Returns the line of the innermost call that the exception came from; null for its own one. */
    static Location locate(Calls calls, ThreadReference thread, ObjectReference thrown) {
        try {
            Location top = thread.frame(0).location();
            if (!RecordedFrame.isOwn(top) || !isBy(top)) {
                return null;
            }
            List<Location> stack = listVisible(thread);
            Value found = calls.invoke(thread, thrown, "getStackTrace", List.of());
            if (!(found instanceof ArrayReference trace) || trace.length() < stack.size()) {
                return null;
            }
            // Both have the same callers; what the handler's own method called is in the trace alone.
            int own = trace.length() - stack.size();
            for (int at = 0; at < Math.min(2, stack.size()); at++) {
                if (!isOf((ObjectReference) trace.getValue(own + at), stack.get(at))) {
                    return null;
                }
            }
            Value line = Throwables.read((ObjectReference) trace.getValue(own), "lineNumber");
            if (!(line instanceof IntegerValue number)
                    || number.value() == top.lineNumber(Throwables.TRACE)) {
                return null;
            }
            List<Location> all = top.method().locationsOfLine(
                    Throwables.TRACE, null, number.value());
            return all.isEmpty() ? null : all.get(0);
        } catch (IncompatibleThreadStateException | AbsentInformationException
                | DebuggerException unknown) {
            return null;  // the line of the stop is shown
        }
    }

    /** Returns where the calls of a thread are, without those that no trace has. */
    private static List<Location> listVisible(ThreadReference thread)
            throws IncompatibleThreadStateException {
        List<Location> found = new ArrayList<>();
        for (StackFrame frame : thread.frames()) {
            String type = frame.location().declaringType().name();
            // Hidden classes have an address, as those that the JVM makes of lambdas.
            if (type.indexOf('/') < 0 && !type.contains("$$Lambda")
                    && !type.startsWith("java.lang.invoke.LambdaForm$")) {
                found.add(frame.location());
            }
        }
        return found;
    }

    private static boolean isOf(ObjectReference element, Location location) {
        return Throwables.text(Throwables.read(element, "declaringClass"))
                        .equals(location.declaringType().name())
                && Throwables.text(Throwables.read(element, "methodName"))
                        .equals(location.method().name());
    }
}
