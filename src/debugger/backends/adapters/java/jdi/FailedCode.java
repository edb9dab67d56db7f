package debugger.jdi;

import com.sun.jdi.ObjectReference;
import java.util.ArrayList;
import java.util.List;

/** Finds the value that an exception is about, by the instruction at which it was thrown. */
final class FailedCode {
    private static final int THROW = ThrownAgain.THROW;
    private static final List<String> CHECKS =
            List.of("java.util.Objects", "kotlin.jvm.internal.Intrinsics");  // of what is null

    /** What an exception is about; without a value it is read in the frame. */
    record Culprit(ValueNode node, ValueReader.Known value) {}

    private final ObjectReference thrown;
    private final String type;
    private final RecordedFrame frame;
    private final RecordedFrame top;  // where it was thrown, perhaps in the library
    private final StackAnalysis analysis;
    private final boolean isOwn;  // the program's own instruction failed, not the library's
    private final ValueNode.Call call;
    private final int opcode;
    private final List<ValueNode> stack;

    /** Reads the own frame of a moment in which an exception was thrown; null where none was. */
    FailedCode(ObjectReference thrown, Moment moment, int index) {
        this.thrown = thrown;
        type = thrown == null ? "" : thrown.referenceType().name();
        frame = moment.frames().get(index);
        analysis = StackAnalysis.of(frame.method());
        isOwn = index == 0;
        top = moment.frames().get(0);
        call = analysis.callAt(frame.code());
        opcode = analysis.opcode(frame.code());
        stack = analysis.stackAt(frame.code());
    }

    private boolean isType(String name) {
        return type.equals("java.lang." + name);
    }

    private ValueNode fromTop(int below) {
        return stack.size() < below ? null : stack.get(stack.size() - below);
    }

    /** Returns what was null; null where nothing was, or it is not known. */
    private ValueNode findNull() {
        if (!isType("NullPointerException")) {
            return null;
        }
        if (!isOwn) {
            boolean isCheck = call != null && CHECKS.contains(call.method.type())
                    && !call.arguments.isEmpty();
            return isCheck ? call.arguments.get(0) : findNullArgument();
        }
        if (call != null) {
            return call.receiver;
        }
        boolean isLoad = opcode >= 46 && opcode <= 53;
        boolean isStore = opcode >= 79 && opcode <= 86;
        // An element's access has the index and the value above the array, a field's write the value.
        return opcode == THROW && !throwsNull() ? null
                : fromTop(isStore ? 3 : isLoad || opcode == 181 ? 2 : 1);
    }

    /** Tells whether `throw` failed for want of an exception. */
    private boolean throwsNull() {
        ValueNode operand = fromTop(1);
        boolean isLocal = operand instanceof ValueNode.Local;
        boolean isObject = operand instanceof ValueNode.Local local
                && !(frame.locals().containsKey(local.slot)
                && frame.locals().get(local.slot) == null);
        return isLocal ? !isObject
                : !(operand instanceof ValueNode.Created || operand instanceof ValueNode.Caught);
    }

    /** Returns the argument that the library found to be null; null where that is not clear. */
    private ValueNode findNullArgument() {
        if (call == null) {
            return null;
        }
        // A method reference is called by a class that the JVM made, with the receiver first.
        boolean isReference = top.method().declaringType().name().contains("$$Lambda");
        if (isReference && !call.arguments.isEmpty()) {
            return call.arguments.get(0);
        }
        ValueNode found = null;
        for (ValueNode one : call.arguments) {
            boolean isNull = one instanceof ValueNode.Constant literal && literal.value == null
                    || one instanceof ValueNode.Local local
                    && frame.locals().containsKey(local.slot)
                    && frame.locals().get(local.slot) == null;
            if (isNull && found != null) {
                return null;
            }
            found = isNull ? one : found;
        }
        return found;
    }

    /** Returns the value that the exception is about; null where that is not clear. */
    Culprit findCulprit() {
        if (thrown == null) {
            return null;
        }
        ValueNode nothing = findNull();
        if (nothing != null) {
            return new Culprit(nothing, new ValueReader.Known(null));
        }
        Culprit before = findEarlier();
        ValueNode node = before != null ? null : isOwn ? findOperand() : findArgument();
        // As that of a coroutine, which the library throws again to the one who waits for it.
        boolean isAgain = before == null && node == null && !isOwn && call != null
                && Throwables.isThrownAgain(thrown, top);
        return isAgain ? new Culprit(new ValueNode.Caught(), new ValueReader.Known(thrown))
                : node == null ? before : new Culprit(node, null);
    }

    /** Returns the exception that is thrown again, or that is the cause of the one thrown. */
    private Culprit findEarlier() {
        ObjectReference cause = Throwables.cause(thrown);
        if (!isOwn) {
            // As of a task whose result is asked for.
            return cause == null ? null
                    : new Culprit(new ValueNode.Caught(), new ValueReader.Known(cause));
        }
        ValueNode top = opcode == THROW ? fromTop(1) : null;
        if (top instanceof ValueNode.Created made) {
            return cause == null ? null : findCause(made, cause);
        }
        boolean isUnnamed = top instanceof ValueNode.Local local
                && !frame.locals().containsKey(local.slot);
        return top instanceof ValueNode.Local || top instanceof ValueNode.Caught
                ? new Culprit(isUnnamed ? new ValueNode.Caught() : top, new ValueReader.Known(thrown))
                : null;
    }

    /** Returns the variable that the cause of a new exception is in, if it was caught or passed. */
    private Culprit findCause(ValueNode.Created made, ObjectReference cause) {
        for (ValueNode.Call one : analysis.calls()) {
            for (ValueNode argument : one.receiver == made ? one.arguments : List.<ValueNode>of()) {
                boolean isIt = argument instanceof ValueNode.Local local
                        && cause.equals(frame.locals().get(local.slot));
                StackAnalysis.Write store = isIt
                        ? analysis.onlyStore((ValueNode.Local) argument) : null;
                if (isIt && !(store != null && store.value() instanceof ValueNode.Created)) {
                    return new Culprit(argument, new ValueReader.Known(cause));
                }
            }
        }
        return null;
    }

    private ValueNode findOperand() {
        if (opcode == THROW) {
            return findGuard();
        } else if (isType("ArrayIndexOutOfBoundsException")) {
            int below = opcode >= 79 ? 2 : 1;
            // A literal index says nothing: the array is shorter than the program expects.
            return fromTop(fromTop(below) instanceof ValueNode.Constant ? below + 1 : below);
        } else if (isType("ArithmeticException") || isType("ClassCastException")
                || isType("NegativeArraySizeException")) {
            return fromTop(1);
        }
        return null;
    }

    /** Returns the one value of the condition under which the program throws. */
    private ValueNode findGuard() {
        if (!(fromTop(1) instanceof ValueNode.Created made)) {
            return null;
        }
        List<ValueNode> leaves = new ArrayList<>();
        analysis.guardOf(made.code, (int) frame.code()).forEach(one -> addCompared(one, leaves));
        boolean isValue = leaves.size() == 1 && !(leaves.get(0) instanceof ValueNode.Unknown);
        return isValue ? leaves.get(0) : null;
    }

    /** Adds what a condition compares; of a truth that a condition chose, what that one compares. */
    private static void addCompared(ValueNode node, List<ValueNode> leaves) {
        boolean isTruth = node instanceof ValueNode.Choice choice && choice.alternatives.stream()
                .allMatch(one -> one instanceof ValueNode.Constant);
        if (isTruth) {
            node.parts().forEach(one -> addCompared(one, leaves));
        } else if (!(node instanceof ValueNode.Constant)) {
            leaves.add(node);
        }
    }

    private ValueNode findArgument() {
        if (call == null || call.method.name().equals("<init>")) {
            return null;
        }
        if (type.endsWith("AssertionError") || type.endsWith("AssertionFailedError")
                || type.endsWith("ComparisonFailure")) {
            return findAsserted();
        }
        boolean isIndex = type.contains("IndexOutOfBounds") || isType("NumberFormatException")
                || isType("IllegalArgumentException");
        if (isIndex && call.arguments.size() == 1
                && !(call.arguments.get(0) instanceof ValueNode.Constant)) {
            return call.arguments.get(0);
        }
        ValueNode index = isIndex ? findIndex() : null;
        if (index != null) {
            return index;
        }
        // Of a literal index, or none, what is indexed is shorter than the program expects.
        boolean isOfReceiver = type.contains("IndexOutOfBounds") && call.arguments.size() <= 1
                || type.equals("java.util.NoSuchElementException")
                || isType("UnsupportedOperationException");
        return isOfReceiver && !(call.receiver instanceof ValueNode.Constant) ? call.receiver : null;
    }

    /** Returns the only variable of several arguments whose value the message names; or null. */
    private ValueNode findIndex() {
        String message = Throwables.message(thrown);
        ValueNode found = null;
        for (ValueNode one : message == null ? List.<ValueNode>of() : call.arguments) {
            boolean isNamed = one instanceof ValueNode.Local local
                    && Arithmetic.toJava(frame.locals().get(local.slot)) instanceof Integer value
                    && message.matches("(?s).*(?<![\\w.-])" + value + "(?![\\w.]).*");
            if (isNamed && found != null) {
                return null;
            }
            found = isNamed ? one : found;
        }
        return found;
    }

    /** Returns the value that a failed assertion of a library looked at, of JUnit's and AssertJ's. */
    private ValueNode findAsserted() {
        ValueNode.Call asserted = call;
        while (asserted.receiver instanceof ValueNode.Call before
                && !asserted.method.name().equals("assertThat")) {
            asserted = before;  // assertThat(value).isEqualTo(other)
        }
        if (asserted.arguments.isEmpty() || !asserted.method.name().startsWith("assert")) {
            return null;
        }
        List<String> types = ConstantPool.parameters(asserted.method.descriptor());
        boolean isPair = asserted.method.name().matches("assert(Not)?(Array)?(Equals|Same)");
        // JUnit 4 has the message first, JUnit 5 last.
        boolean isMessage = types.size() > (isPair ? 2 : 1)
                && types.get(0).equals("Ljava/lang/String;");
        int index = (isPair ? 1 : 0) + (isMessage ? 1 : 0);
        ValueNode found = index < asserted.arguments.size() ? asserted.arguments.get(index) : null;
        return found instanceof ValueNode.Constant ? null : found;
    }

    /** Tells whether a handler of the compiler's throws the exception again. */
    boolean isThrownAgain() {
        return thrown != null && isOwn && ThrownAgain.isBy(frame.location());
    }

    /** Returns the call of an iterator whose container was changed meanwhile; or null. */
    ValueNode.Call findChangedLoop() {
        return type.equals("java.util.ConcurrentModificationException") ? call : null;
    }
}
