package debugger.jdi;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.LocalVariable;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.List;

/** Finds where the chain of an expression begins: its tree in a frame of the stop. */
final class OriginStart {
    private final Target target;
    private final Evaluator evaluator;
    private final FramePosition position;
    private final ValueTrace trace;
    private Moment stop;
    private RecordedFrame frame;

    OriginStart(Target target, Evaluator evaluator, FramePosition position, ValueTrace trace) {
        this.target = target;
        this.evaluator = evaluator;
        this.position = position;
        this.trace = trace;
    }

    /** Returns the first value to follow: of an expression, or of a call in the stopped statement. */
    ValueTrace.Cursor find(String text) throws DebuggerException {
        stop = Moment.ofStop(position.thread());
        int index = position.depth();
        int last = stop.frames().size() - 1;
        // What fails in the library is explained by the program's own frame.
        while (index < last && !stop.frames().get(index).isOwn()) {
            index++;
        }
        if (index > last || !stop.frames().get(index).isOwn()) {
            throw new DebuggerException("no frame of the program's own code is on the stack");
        }
        frame = stop.frames().get(index);
        ObjectReference thrown = target.stop() == null ? null : target.stop().thrown();
        ValueTrace.Cursor failed = findThrown(text, thrown, index);
        if (failed != null) {
            return failed;
        }
        if (text.isBlank()) {
            throw new DebuggerException("no value is known that the failure is about");
        }
        ValueNode node = findInStatement(text);
        ValueReader.Known value;
        if (node != null) {
            value = trace.reader().read(node, frame, true);
        } else {
            Evaluator own = index == position.depth() ? evaluator
                    : target.evaluator(new FramePosition(position.thread(), index));
            Node parsed = Parser.parse(text);
            value = new ValueReader.Known(own.evaluate(text));
            node = convert(parsed, own);
            boolean isVariable = node instanceof ValueNode.FieldRead read
                    && Values.isCaptured(read.type);
            value = isVariable ? trace.reader().read(node, frame, true) : value;
            // A call of a method has made the frames invalid, and their values are the same.
        }
        return begin(text, new ValueTrace.Cursor(node, stop, index, value));
    }

    private ValueTrace.Cursor begin(String text, ValueTrace.Cursor first) {
        String shown = text.isBlank() ? CodeText.of(first.node(), first.method()) : text;
        trace.report().begin(shown, first);
        return first;
    }

    /** Returns what an exception is about, where it was first thrown if a handler throws it again. */
    private ValueTrace.Cursor findThrown(String text, ObjectReference thrown, int index) {
        FailedCode failed = new FailedCode(thrown, stop, index);
        if (!failed.isThrownAgain()) {
            return findFailed(text, failed, stop, index);
        }
        Moment first = trace.findThrow(thrown, stop);
        int own = first == null ? -1 : first.firstOwn();
        boolean isSameCall = own >= 0 && first.depthOf(own) == stop.depthOf(index)
                && first.thread().equals(stop.thread())
                && first.frames().get(own).method().equals(frame.method());
        ValueTrace.Cursor found = null;
        if (isSameCall) {
            found = findFailed(text, new FailedCode(thrown, first, own), first, own);
            found = found != null ? found : findVariable(text, first, own);
        } else if (!text.isBlank() && trace.mustAskThrow(thrown)) {
            // The text may be of what has gone or was changed since.
            ValueNode caught = new ValueNode.Caught();
            begin(text, new ValueTrace.Cursor(caught, stop, index, null));
            return new ValueTrace.Cursor(caught, stop, index, new ValueReader.Known(thrown));
        }
        return found != null ? found : findFailed(text, failed, stop, index);
    }

    /** Returns a variable by its name, as it was at another moment; null where it was none. */
    private ValueTrace.Cursor findVariable(String text, Moment moment, int index) {
        RecordedFrame then = moment.frames().get(index);
        for (LocalSlots.Variable one : LocalSlots.of(then.method())) {
            boolean isIt = one.name().equals(text) && one.first() <= then.code()
                    && then.code() <= one.last() && then.locals().containsKey(one.slot());
            if (isIt) {
                ValueNode local = new ValueNode.Local(one.slot(), (int) then.code());
                return begin(text, new ValueTrace.Cursor(local, moment, index,
                        new ValueReader.Known(then.locals().get(one.slot()))));
            }
        }
        return null;
    }

    /** Returns what an exception is about, if the text is of that; null where it is not known. */
    private ValueTrace.Cursor findFailed(
            String text, FailedCode failed, Moment moment, int index) {
        ValueNode.Call loop = failed.findChangedLoop();
        ValueTrace.Cursor changed = loop == null ? null : findChanged(text, loop, moment, index);
        if (changed != null) {
            return changed;
        }
        FailedCode.Culprit culprit = failed.findCulprit();
        // What `crash` shows may be no expression, as `a caught exception`.
        boolean isCulprit = culprit != null && (text.isBlank() || CodeText.isSame(text,
                CodeText.of(culprit.node(), moment.frames().get(index).method())));
        if (!isCulprit) {
            return null;
        }
        ValueTrace.Cursor unread = new ValueTrace.Cursor(culprit.node(), moment, index, null);
        ValueReader.Known value = culprit.value() != null ? culprit.value()
                : moment.isStop() ? trace.reader().read(culprit.node(), frame, true)
                : trace.read(culprit.node(), unread);
        if (!moment.isStop()) {
            trace.plan().suppose(unread.method(), culprit.node());
        }
        return begin(text, new ValueTrace.Cursor(culprit.node(), moment, index, value));
    }

    /** Returns the loop that a change of its container ended, if the text is of that container. */
    private ValueTrace.Cursor findChanged(
            String text, ValueNode.Call loop, Moment moment, int index) {
        ValueTrace.Cursor at = new ValueTrace.Cursor(loop, moment, index, null);
        ValueNode container = trace.containers().findIterated(at, loop);
        if (container == null) {
            return null;
        }
        String name = CodeText.of(container, at.method());
        if (!text.isBlank() && !CodeText.isSame(text, name) && !name.endsWith("." + text)) {
            return null;
        }
        trace.setChangedLoop(loop, moment);
        trace.report().begin(name, new ValueTrace.Cursor(container, moment, index,
                trace.read(container, at)));
        return at;
    }

    /** Finds a call of the expression's text that the stopped statement has made; or null. */
    private ValueNode findInStatement(String text) {
        StackAnalysis analysis = StackAnalysis.of(frame.method());
        if (!text.contains("(")) {
            return null;
        }
        List<ValueNode> all = new ArrayList<>();
        analysis.stackAt(frame.code()).forEach(one -> addAll(one, all));
        for (ValueNode one : all) {
            boolean isIt = one instanceof ValueNode.Call
                    && CodeText.isSame(CodeText.of(one, frame.method()), text);
            if (isIt) {
                return one;
            }
        }
        return null;
    }

    private static void addAll(ValueNode node, List<ValueNode> all) {
        all.add(node);
        node.parts().forEach(one -> addAll(one, all));
    }

    // -- expressions -------------------------------------------------------------------------------

    private ValueNode convert(Node node, Evaluator own) throws DebuggerException {
        if (node instanceof Node.Literal literal) {
            return new ValueNode.Constant(literal.value(), -1);
        } else if (node instanceof Node.Name name) {
            return convertName(name.text(), own);
        } else if (node instanceof Node.Member member) {
            return convertMember(member, own);
        } else if (node instanceof Node.Index index) {
            return convertIndex(index, own);
        } else if (node instanceof Node.Call call) {
            return convertCall(call, own);
        } else if (node instanceof Node.Cast cast) {
            return convert(cast.operand(), own);
        } else if (node instanceof Node.Binary binary) {
            return new ValueNode.Operation(binary.operator(), ' ',
                    List.of(convert(binary.left(), own), convert(binary.right(), own)));
        } else if (node instanceof Node.Unary unary) {
            return new ValueNode.Operation(unary.operator(), ' ',
                    List.of(convert(unary.operand(), own)));
        }
        throw new DebuggerException("a value is followed from a variable, a field, an element, a call "
                + "or what is computed from them");
    }

    private ValueNode know(ValueNode node, Object value) {
        stop.known().put(node, new ValueReader.Known(value));
        return node;
    }

    private ValueNode convertName(String name, Evaluator own) throws DebuggerException {
        if (name.equals("this")) {
            return new ValueNode.Local(0, (int) frame.code());
        }
        LocalVariable local = own.findLocal(name);
        if (local != null) {
            for (LocalSlots.Variable one : LocalSlots.of(frame.method())) {
                if (one.mirror().equals(local)) {
                    return readLocal(one.slot());
                }
            }
        }
        FieldPosition field = own.findField(name);
        if (field == null) {
            throw new DebuggerException("no variable or field " + name + " here");
        }
        return readField(field, null);
    }

    /** Returns a variable's tree; of one that a closure assigns that of the field that it is in. */
    private ValueNode readLocal(int slot) {
        ValueNode local = new ValueNode.Local(slot, (int) frame.code());
        String type = frame.locals().get(slot) instanceof ObjectReference object
                ? object.referenceType().name() : "";
        return !Values.isCaptured(type) ? local : new ValueNode.FieldRead(local, type,
                type.startsWith("scala.") ? "elem" : type.startsWith("groovy.") ? "value" : "element");
    }

    private ValueNode readField(FieldPosition field, ValueNode owner) {
        ValueNode object = field.owner() == null ? null
                : owner != null ? owner : new ValueNode.Unknown("an object");
        if (object != null) {
            know(object, field.owner());
        }
        return new ValueNode.FieldRead(object, field.field().declaringType().name(),
                field.field().name());
    }

    private ValueNode convertMember(Node.Member member, Evaluator own) throws DebuggerException {
        if (member.name().equals("length")
                && own.evaluate(member.target()) instanceof ArrayReference array) {
            return new ValueNode.Operation("length", 'I',
                    List.of(know(convert(member.target(), own), array)));
        }
        FieldPosition field = own.locateField(member);
        return readField(field, field.owner() == null ? null : convert(member.target(), own));
    }

    private ValueNode convertIndex(Node.Index index, Evaluator own) throws DebuggerException {
        Object container = own.evaluate(index.target());
        ValueNode array = know(convert(index.target(), own), container);
        ValueNode place = know(convert(index.index(), own), own.evaluate(index.index()));
        return container instanceof ArrayReference items
                ? new ValueNode.Element(array, place, RecordPlan.storeOpcode(items))
                : new ValueNode.Call(new ConstantPool.Member("java.util.List", "get",
                        "(I)Ljava/lang/Object;"), array, List.of(place), -1);
    }

    private ValueNode convertCall(Node.Call call, Evaluator own) throws DebuggerException {
        Object receiver = call.target() == null ? own.findReceiver(call.name())
                : own.evaluate(call.target());
        List<ValueNode> arguments = new ArrayList<>();
        for (Node one : call.arguments()) {
            arguments.add(know(convert(one, own), own.evaluate(one)));
        }
        if (!(receiver instanceof ObjectReference object)) {
            throw new DebuggerException("a call of " + call.name() + " is not followed");
        }
        ValueNode from = call.target() == null ? new ValueNode.Unknown("this")
                : convert(call.target(), own);
        Method method = object.referenceType().methodsByName(call.name()).stream()
                .filter(one -> ConstantPool.parameters(one.signature()).size() == arguments.size())
                .findFirst().orElseThrow(() -> new DebuggerException("no method " + call.name()));
        String type = Names.isLibrary(object.referenceType().name())
                ? object.referenceType().name() : method.declaringType().name();
        return new ValueNode.Call(new ConstantPool.Member(type, call.name(), method.signature()),
                know(from, object), arguments, -1);
    }
}
