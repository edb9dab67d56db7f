package debugger.jdi;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.Field;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StringReference;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import java.util.List;

/** Reads the values of trees at a moment, without running anything of the program. */
final class ValueReader {
    private static final int DEPTH_MAX = 12;

    /** A value that is known, also a null. A String of ours stands for a literal. */
    record Known(Object value) {}

    private final VirtualMachine vm;

    ValueReader(VirtualMachine vm) {
        this.vm = vm;
    }

    /**
     * Reads a tree's value in a frame as it is now; null where that is not known without a call.
     *
     * Args: the tree, the frame, and whether fields and elements have their values of that moment.
     */
    Known read(ValueNode node, RecordedFrame frame, boolean isNow) {
        return read(node, frame, isNow, 0);
    }

    private Known read(ValueNode node, RecordedFrame frame, boolean isNow, int depth) {
        if (depth > DEPTH_MAX) {
            return null;
        }
        if (node instanceof ValueNode.Constant one) {
            boolean isPlain = one.value == null || one.value instanceof String;
            return new Known(isPlain ? one.value : Arithmetic.toMirror(vm, one.value));
        } else if (node instanceof ValueNode.Local local) {
            return readLocal(local, frame);
        } else if (node instanceof ValueNode.FieldRead read) {
            Known owner = read.owner == null ? new Known(null)
                    : read(read.owner, frame, isNow, depth + 1);
            Field field = owner == null ? null : findField(read, owner.value());
            return field == null || !(isNow || field.isFinal()) ? null
                    : new Known(readField(field, owner.value()));
        } else if (node instanceof ValueNode.Element element) {
            return isNow ? readElement(element, frame, depth) : null;
        } else if (node instanceof ValueNode.Operation operation) {
            return readOperation(operation, frame, isNow, depth);
        } else if (node instanceof ValueNode.Call call) {
            return readCall(call, frame, isNow, depth);
        }
        return null;
    }

    private Known readLocal(ValueNode.Local local, RecordedFrame frame) {
        if (local.slot == 0 && !frame.method().isStatic()) {
            return frame.self() == null ? null : new Known(frame.self());
        }
        if (!frame.locals().containsKey(local.slot)) {
            return null;
        }
        Value value = frame.locals().get(local.slot);
        StackAnalysis analysis = StackAnalysis.of(frame.method());
        int added = 0;
        for (StackAnalysis.Write one : analysis.writes()) {
            boolean isBetween = one.kind().equals("local") && one.slot() == local.slot
                    && one.code() > local.code && one.code() < frame.code();
            if (!isBetween) {
                continue;
            }
            Integer amount = analysis.incrementAt(one.code());
            if (amount == null || analysis.branchesBetween(local.code, frame.code())) {
                return null;  // it was changed since it was read
            }
            added += amount;
        }
        // Of `items[i++] = x` the variable has its new value when the element is written.
        return new Known(value instanceof IntegerValue number && added != 0
                ? vm.mirrorOf(number.value() - added) : value);
    }

    /** Finds the field that an instruction names, of an object or, without one, a static one. */
    Field findField(ValueNode.FieldRead read, Object owner) {
        if (read.owner == null) {
            List<ReferenceType> types = vm.classesByName(read.type);
            return types.isEmpty() ? null : types.get(0).fieldByName(read.name);
        }
        if (!(owner instanceof ObjectReference object)) {
            return null;
        }
        ReferenceType type = object.referenceType();
        for (Field one : type.allFields()) {
            if (one.name().equals(read.name) && one.declaringType().name().equals(read.type)) {
                return one;
            }
        }
        return type.fieldByName(read.name);
    }

    private static Value readField(Field field, Object owner) {
        return field.isStatic() ? field.declaringType().getValue(field)
                : ((ObjectReference) owner).getValue(field);
    }

    private Known readElement(ValueNode.Element element, RecordedFrame frame, int depth) {
        Known array = read(element.array, frame, true, depth + 1);
        Known index = read(element.index, frame, true, depth + 1);
        if (array == null || index == null || !(array.value() instanceof ArrayReference items)
                || !(Arithmetic.toJava(index.value()) instanceof Number at)) {
            return null;
        }
        boolean isIn = at.intValue() >= 0 && at.intValue() < items.length();
        return isIn ? new Known(items.getValue(at.intValue())) : null;
    }

    private Known readOperation(
            ValueNode.Operation operation, RecordedFrame frame, boolean isNow, int depth) {
        Known[] operands = new Known[operation.operands.size()];
        for (int index = 0; index < operands.length; index++) {
            operands[index] = read(operation.operands.get(index), frame, isNow, depth + 1);
            if (operands[index] == null) {
                return null;
            }
        }
        try {
            return switch (operation.operator) {
                case "(box)" -> operands[0];
                case "(unbox)" -> operands[0].value() == null ? null
                        : new Known(Arithmetic.unbox(operands[0].value()));
                case "(cast)" -> known(Arithmetic.cast(
                        operation.typeName(), plain(operands[0])));
                case "length" -> operands[0].value() instanceof ArrayReference array
                        ? new Known(vm.mirrorOf(array.length())) : null;
                case "concat", "instanceof", "compare" -> null;
                default -> operands.length == 1
                        ? known(Arithmetic.applyUnary(operation.operator, plain(operands[0])))
                        : known(Arithmetic.apply(operation.operator,
                                plain(operands[0]), plain(operands[1])));
            };
        } catch (DebuggerException noNumber) {
            return null;
        }
    }

    private static Object plain(Known known) {
        Object value = Arithmetic.toJava(known.value());
        return value instanceof Boolean truth ? (Object) (truth ? 1 : 0) : value;
    }

    private Known known(Object plain) {
        return new Known(Arithmetic.toMirror(vm, plain));
    }

    private Known readCall(ValueNode.Call call, RecordedFrame frame, boolean isNow, int depth) {
        Known receiver = call.receiver == null ? null
                : read(call.receiver, frame, isNow, depth + 1);
        if (receiver == null || !(receiver.value() instanceof ObjectReference object)) {
            return null;
        }
        ValueNode.FieldRead accessor = findAccessor(object.referenceType(), call.method);
        if (accessor != null) {
            Field field = findField(accessor, object);
            return field != null && (isNow || field.isFinal())
                    ? new Known(object.getValue(field)) : null;
        }
        if (!isNow || !Names.isLibrary(object.referenceType().name())) {
            return null;
        }
        return readContainer(call, object, frame, depth);
    }

    private Known readContainer(
            ValueNode.Call call, ObjectReference container, RecordedFrame frame, int depth) {
        int size = Containers.size(container);
        String name = call.method.name();
        if (size < 0) {
            return null;
        }
        if (name.equals("size") && call.arguments.isEmpty()) {
            return new Known(vm.mirrorOf(size));
        }
        if (!name.equals("get") || call.arguments.size() != 1) {
            return null;
        }
        Known key = read(call.arguments.get(0), frame, true, depth + 1);
        if (key == null) {
            return null;
        }
        if (Containers.isMap(container)) {
            for (Containers.Entry one : Containers.entries(container, 10_000)) {
                if (isSame(one.key(), key.value())) {
                    return new Known(one.value());
                }
            }
            return null;
        }
        List<Value> items = Arithmetic.toJava(key.value()) instanceof Number at
                ? Containers.readItems(container, at.intValue(), 1) : null;
        return items == null || items.isEmpty() ? null : new Known(items.get(0));
    }

    /** Returns the field that a method gives, if it does nothing else; null for other methods. */
    static ValueNode.FieldRead findAccessor(ReferenceType type, ConstantPool.Member method) {
        if (Names.isLibrary(type.name())) {
            return null;
        }
        for (Method one : type.methodsByName(method.name(), method.descriptor())) {
            StackAnalysis analysis = StackAnalysis.of(one);
            if (analysis == null || one.isStatic()) {
                continue;
            }
            List<StackAnalysis.Write> writes = analysis.writes();
            boolean isIt = writes.size() == 1 && analysis.branches().isEmpty()
                    && writes.get(0).kind().equals("return")
                    && writes.get(0).value() instanceof ValueNode.FieldRead read
                    && read.owner instanceof ValueNode.Local self && self.slot == 0;
            return isIt ? (ValueNode.FieldRead) writes.get(0).value() : null;
        }
        return null;
    }

    /** Tells whether two values are one: the same object, or equal numbers, enums or texts. */
    static boolean isSame(Object one, Object other) {
        if (one == null || other == null) {
            return one == other;
        }
        Object first = Arithmetic.toJava(one);
        Object second = Arithmetic.toJava(other);
        if (first != null && second != null) {
            boolean isFirstTruth = first instanceof Boolean;
            return first.equals(second) || isFirstTruth != second instanceof Boolean
                    && number(first).equals(number(second));
        }
        String text = text(one);
        return text != null ? text.equals(text(other)) : one.equals(other);
    }

    private static Object number(Object plain) {
        return plain instanceof Boolean truth ? (Object) (truth ? 1 : 0)
                : plain instanceof Character letter ? (Object) (int) letter
                : plain instanceof Byte || plain instanceof Short ? (Object) ((Number) plain).intValue()
                : plain;
    }

    /** Returns the text of a string, or null. */
    static String text(Object value) {
        return value instanceof String plain ? plain
                : value instanceof StringReference mirror ? mirror.value() : null;
    }
}
