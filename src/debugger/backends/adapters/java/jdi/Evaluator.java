package debugger.jdi;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.ArrayReference;
import com.sun.jdi.ArrayType;
import com.sun.jdi.ClassNotLoadedException;
import com.sun.jdi.ClassType;
import com.sun.jdi.Field;
import com.sun.jdi.InvalidTypeException;
import com.sun.jdi.LocalVariable;
import com.sun.jdi.ObjectCollectedException;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Type;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Evaluates expressions of Java in a frame of the stopped program.
 *
 * A value is the program's own, or a String of ours that is not in the program yet; a class stands
 * for itself where static members follow, a PackageName where a class follows.
 */
final class Evaluator {
    private static final int OUTER_MAX = 10;
    private static final int ITEMS_MAX = 10_000;
    private static final Pattern ASSIGNMENT = Pattern.compile(
            "\\s*([\\w$]+(?:\\.[\\w$]+|\\[\\w+\\])*)\\s*=(?!=)(.*)", Pattern.DOTALL);

    private static final Pattern OWN = Pattern.compile(
            "\\$(?<name>origin|keep|kept|same)\\((?<text>.*)\\)", Pattern.DOTALL);

    private record PackageName(String text) {}

    private final Target target;
    private final FramePosition position;
    private final ThreadReference thread;
    private final Map<String, Value> pseudoVariables;
    private final ReferenceType home;  // of an expression that another method saw; else null

    Evaluator(Target target, FramePosition position, Map<String, Value> pseudoVariables) {
        this(target, position, pseudoVariables, null);
    }

    /** Evaluates with the variables alone, in the scope of a class, and without the frame's. */
    Evaluator(Target target, FramePosition position, Map<String, Value> pseudoVariables,
            ReferenceType home) {
        this.target = target;
        this.position = position;
        this.thread = position.thread();
        this.pseudoVariables = pseudoVariables;
        this.home = home;
    }

    private ObjectReference self() throws DebuggerException {
        if (home != null) {
            return (ObjectReference) pseudoVariables.get("this");
        }
        ObjectReference self = frame().thisObject();
        LocalVariable receiver = self != null ? null
                : findLocal(Kotlin.receiverName(frame().location().method()));
        return receiver != null && frame().getValue(receiver) instanceof ObjectReference object
                ? object : self;
    }

    /** Returns an expression's value as one of the program's. */
    Value evaluate(String expression) throws DebuggerException {
        try {
            Matcher own = OWN.matcher(expression);
            if (own.matches()) {
                return evaluateOwn(own.group("name"), own.group("text"));
            }
            return Parser.needsCompiler(expression) ? evaluateCompiled(expression)
                    : asValue(evaluate(Parser.parse(expression)));
        } catch (ObjectCollectedException gone) {
            throw new DebuggerException("a value was collected meanwhile");
        }
    }

    /** Evaluates what the debugger's questions ask for. */
    private Value evaluateOwn(String name, String text) throws DebuggerException {
        if (name.equals("origin")) {
            ValueTrace trace = new ValueTrace(target);
            return target.vm().mirrorOf(
                    trace.follow(new OriginStart(target, this, position, trace).find(text)));
        }
        int comma = text.indexOf(',');
        int number = Integer.parseInt(comma < 0 ? text : text.substring(0, comma));
        KeptChecks checks = target.checks();
        return switch (name) {
            case "keep" -> target.vm().mirrorOf(checks.keep(number, text.substring(comma + 1), this));
            case "same" -> target.vm().mirrorOf(checks.isSame(number, this));
            default -> asValue(checks.read(number, position));
        };
    }

    boolean isTrue(String condition) throws DebuggerException {
        try {
            return Parser.needsCompiler(condition) ? asTruth(evaluateCompiled(condition))
                    : isTrue(Parser.parse(condition));
        } catch (ObjectCollectedException gone) {
            throw new DebuggerException("a value was collected meanwhile");
        }
    }

    /** Returns the object and the field that an expression names, for a watchpoint. */
    FieldPosition locateField(String expression) throws DebuggerException {
        return locateField(Parser.parse(expression));
    }

    FieldPosition locateField(Node node) throws DebuggerException {
        if (node instanceof Node.Member member) {
            Object owner = evaluate(member.target());
            if (owner instanceof ObjectReference || owner instanceof ReferenceType) {
                return fieldOf(owner, member.name());
            }
        } else if (node instanceof Node.Name name) {
            if (findLocal(name.text()) != null) {
                throw new DebuggerException(name.text()
                        + " is a local variable; the JVM watches fields only");
            }
            FieldPosition field = findField(name.text());
            if (field != null) {
                return field;
            }
            throw unknownName(name.text());
        }
        throw new DebuggerException("the JVM watches fields only: an object's, or a static one");
    }

    private Value asValue(Object result) throws DebuggerException {
        if (result instanceof String text) {
            return target.vm().mirrorOf(text);
        }
        if (result instanceof ReferenceType type) {
            return type.classObject();
        }
        if (result instanceof PackageName name) {
            throw unknownName(name.text());
        }
        return (Value) result;
    }

    private DebuggerException unknownName(String name) {
        String first = name.contains(".") ? name.substring(0, name.indexOf('.')) : name;
        try {
            frame().visibleVariables();
        } catch (AbsentInformationException withoutVariables) {
            return new DebuggerException("no variable " + first + ": "
                    + Names.shorten(frameType().name())
                    + " was compiled without the names of local variables (javac -g)");
        } catch (DebuggerException noFrame) {
            return noFrame;
        }
        return new DebuggerException("no variable, field or class " + first + " here");
    }

    StackFrame frame() throws DebuggerException {
        return position.frame();
    }

    ReferenceType frameType() {
        if (home != null) {
            return home;
        }
        try {
            return frame().location().declaringType();
        } catch (DebuggerException noFrame) {
            return null;
        }
    }

    Object evaluate(Node node) throws DebuggerException {
        if (node instanceof Node.Literal literal) {
            Object value = literal.value();
            return value == null || value instanceof String ? value
                    : Arithmetic.toMirror(target.vm(), value);
        } else if (node instanceof Node.Name name) {
            return readName(name.text());
        } else if (node instanceof Node.Member member) {
            return readMember(evaluate(member.target()), member.name());
        } else if (node instanceof Node.Index index) {
            return readElement(evaluateValue(index.target()), indexOf(index));
        } else if (node instanceof Node.Call call) {
            return call(call);
        } else if (node instanceof Node.NewObject creation) {
            return target.calls().invoke(thread, findClass(creation.type()), "<init>",
                    evaluateAll(creation.arguments()));
        } else if (node instanceof Node.NewArray creation) {
            return makeArray(creation);
        } else if (node instanceof Node.Unary unary) {
            Object operand = requirePrimitive(evaluateValue(unary.operand()));
            return Arithmetic.toMirror(target.vm(), Arithmetic.applyUnary(unary.operator(), operand));
        } else if (node instanceof Node.Binary binary) {
            return evaluateBinary(binary);
        } else if (node instanceof Node.Conditional choice) {
            return evaluate(isTrue(choice.condition()) ? choice.whenTrue() : choice.whenFalse());
        } else if (node instanceof Node.Cast cast) {
            return cast(cast.type(), evaluateValue(cast.operand()));
        } else if (node instanceof Node.InstanceOf test) {
            Object value = evaluateValue(test.operand());
            return target.vm().mirrorOf(value != null && isInstance(value, test.type()));
        } else if (node instanceof Node.ClassLiteral literal) {
            return findClass(literal.type()).classObject();
        } else if (node instanceof Node.Assign assignment) {
            return assign(assignment);
        }
        Node.Increment step = (Node.Increment) node;
        Object before = evaluate(step.target());
        Object after = assign(new Node.Assign(
                step.target(), step.operator(), new Node.Literal(1)));
        return step.isPostfix() ? before : after;
    }

    private boolean isTrue(Node node) throws DebuggerException {
        return asTruth(evaluateValue(node));
    }

    private static boolean asTruth(Object value) throws DebuggerException {
        if (Arithmetic.toJava(value) instanceof Boolean truth) {
            return truth;
        }
        throw new DebuggerException("a boolean is expected there");
    }

    /** Evaluates what a compiler is needed for; what it is assigned to is ours to set. */
    private Value evaluateCompiled(String expression) throws DebuggerException {
        Matcher assignment = ASSIGNMENT.matcher(expression);
        if (assignment.matches()) {
            Node place = Parser.parse(assignment.group(1));
            Value value = evaluateCompiled(assignment.group(2));
            return asValue(assign(place, value));
        }
        return target.compiler().evaluate(
                new ExpressionBody(this, expression), frameType(), thread);
    }

    /** Evaluates what must be a value: a name that is none is an error here. */
    private Object evaluateValue(Node node) throws DebuggerException {
        Object value = evaluate(node);
        return value instanceof ReferenceType || value instanceof PackageName
                ? asValue(value) : value;
    }

    private List<Object> evaluateAll(List<Node> nodes) throws DebuggerException {
        List<Object> values = new ArrayList<>();
        for (Node node : nodes) {
            values.add(evaluateValue(node));
        }
        return values;
    }

    private Object requirePrimitive(Object value) throws DebuggerException {
        Object plain = Arithmetic.toJava(value);
        if (plain == null) {
            throw new DebuggerException("a number or a boolean is expected there, not "
                    + Calls.describe(value));
        }
        return plain;
    }

    // -- names -------------------------------------------------------------------------------------

    Object readName(String name) throws DebuggerException {
        if (pseudoVariables.containsKey(name)) {
            return pseudoVariables.get(name);
        }
        if (name.equals("$access")) {
            return target.breakpoints().describeAccess(thread);
        }
        if (name.equals("$wait")) {
            return Waits.describe(thread, target.threads());
        }
        if (name.equals("this")) {
            ObjectReference self = self();
            if (self == null) {
                throw new DebuggerException("no variable this: the method is static");
            }
            return self;
        }
        LocalVariable local = findLocal(name);
        if (local != null) {
            return frame().getValue(local);
        }
        FrameValues.Variable argument = findUnnamed(name);
        if (argument != null) {
            return argument.value();
        }
        FieldPosition field = findField(name);
        if (field != null) {
            return field.read();
        }
        ObjectReference owner = findPropertyOwner(name);
        if (owner != null) {
            return readMember(owner, name);
        }
        ReferenceType type = target.classNames().find(name, frameType(), thread);
        return type != null ? type : new PackageName(name);
    }

    /** Finds an argument by its number (`arg0`), where the function has no names of variables. */
    private FrameValues.Variable findUnnamed(String name) throws DebuggerException {
        if (home != null || !FrameValues.isUnnamed(name)) {
            return null;
        }
        return FrameValues.read(position).arguments().stream()
                .filter(one -> one.name().equals(name)).findFirst().orElse(null);
    }

    LocalVariable findLocal(String name) throws DebuggerException {
        if (home != null) {
            return null;
        }
        try {
            LocalVariable plain = frame().visibleVariableByName(name);
            return plain != null ? plain : Kotlin.nameVariables(frame().visibleVariables()).get(name);
        } catch (AbsentInformationException withoutVariables) {
            return null;
        }
    }

    /** Finds a field of the object or class, or of those around it. */
    FieldPosition findField(String name) throws DebuggerException {
        ObjectReference self = self();
        for (int level = 0; self != null && level < OUTER_MAX; level++) {
            ReferenceType type = self.referenceType();
            Field field = type.fieldByName(name);
            // What a local or anonymous class has captured.
            field = field != null ? field : type.fieldByName("val$" + name);
            if (field != null) {
                return new FieldPosition(self, field);
            }
            self = outerObject(self);
        }
        ReferenceType type = frameType();
        while (type != null) {
            Field field = type.fieldByName(name);
            if (field != null && field.isStatic()) {
                return new FieldPosition(null, field);
            }
            type = outerType(type);
        }
        return null;
    }

    /** Finds the object, or the one around it, that has a getter for a property of Kotlin. */
    private ObjectReference findPropertyOwner(String name) throws DebuggerException {
        ObjectReference self = self();
        for (int level = 0; self != null && level < OUTER_MAX; level++) {
            if (Kotlin.findGetter(self.referenceType(), name) != null) {
                return self;
            }
            self = outerObject(self);
        }
        return null;
    }

    private static ObjectReference outerObject(ObjectReference inner) {
        for (Field field : inner.referenceType().fields()) {
            if (field.name().startsWith("this$")) {
                return (ObjectReference) inner.getValue(field);
            }
        }
        return null;
    }

    private ReferenceType findClass(String name) throws DebuggerException {
        ReferenceType found = target.classNames().find(name, frameType(), thread);
        if (found == null) {
            throw new DebuggerException("no class " + name);
        }
        return found;
    }

    private FieldPosition fieldOf(Object owner, String name) throws DebuggerException {
        ReferenceType type = owner instanceof ObjectReference object
                ? object.referenceType() : (ReferenceType) owner;
        Field field = type.fieldByName(name);
        if (field == null || (owner instanceof ReferenceType && !field.isStatic()
                && !(owner instanceof ObjectReference))) {
            throw new DebuggerException(Names.shorten(type.name()) + " has no "
                    + (field == null ? "field " : "static field ") + name);
        }
        return new FieldPosition(owner instanceof ObjectReference object ? object : null, field);
    }

    private Object readMember(Object owner, String name) throws DebuggerException {
        if (owner instanceof PackageName prefix) {
            String whole = prefix.text() + "." + name;
            ReferenceType type = target.classNames().find(whole, null, thread);
            return type != null ? type : new PackageName(whole);
        }
        if (owner == null) {
            throw new DebuggerException("cannot read ." + name + ": the object is null");
        }
        if (owner instanceof ArrayReference array && name.equals("length")) {
            return target.vm().mirrorOf(array.length());
        }
        if (owner instanceof ReferenceType type && !(owner instanceof ObjectReference)) {
            ReferenceType inner = type.fieldByName(name) == null
                    ? target.classNames().loaded(type.name() + "$" + name) : null;
            return inner != null ? inner : fieldOf(type, name).read();
        }
        if (owner instanceof String || !(owner instanceof ObjectReference)) {
            throw new DebuggerException(Calls.describe(owner) + " has no field " + name);
        }
        ObjectReference object = (ObjectReference) owner;
        String getter = object.referenceType().fieldByName(name) == null
                ? Kotlin.findGetter(object.referenceType(), name) : null;
        return getter != null ? target.calls().invoke(thread, object, getter, List.of())
                : fieldOf(owner, name).read();
    }

    // -- elements, calls and operators -------------------------------------------------------------

    private int indexOf(Node.Index node) throws DebuggerException {
        Object index = requirePrimitive(evaluateValue(node.index()));
        return (Integer) Arithmetic.cast("int", index);
    }

    private Object readElement(Object owner, int index) throws DebuggerException {
        if (owner instanceof ArrayReference array) {
            checkIndex(array, index);
            return array.getValue(index);
        }
        // Not Java, but a list's elements are shown so.
        List<Value> items = owner instanceof ObjectReference object
                ? Containers.readItems(object, index, 1) : null;
        if (items == null) {
            throw new DebuggerException(Calls.describe(owner) + " is no array");
        }
        if (items.isEmpty()) {
            throw new DebuggerException("the index " + index + " is out of bounds");
        }
        return items.get(0);
    }

    private static void checkIndex(ArrayReference array, int index) throws DebuggerException {
        if (index < 0 || index >= array.length()) {
            throw new DebuggerException("the index " + index + " is out of bounds for a length of "
                    + array.length());
        }
    }

    private Object call(Node.Call call) throws DebuggerException {
        if (call.target() == null) {
            return callOwn(call);
        }
        Object owner = call.target() instanceof Node.Name name && name.text().equals("super")
                ? frame().thisObject() : evaluate(call.target());
        if (owner instanceof PackageName unknown) {
            throw unknownName(unknown.text());
        }
        if (owner == null) {
            throw new DebuggerException("cannot call " + call.name() + "(): the object is null");
        }
        List<Object> arguments = evaluateAll(call.arguments());
        Object answer = Strings.call(owner, call.name(), arguments);
        if (answer != null) {
            return answer instanceof String ? answer : Arithmetic.toMirror(target.vm(), answer);
        }
        if (owner instanceof String text) {
            owner = target.vm().mirrorOf(text);
        }
        if (!(owner instanceof ObjectReference || owner instanceof ReferenceType)) {
            throw new DebuggerException(Calls.describe(owner) + " has no methods");
        }
        return target.calls().invoke(thread, owner, call.name(), arguments);
    }

    private Object callOwn(Node.Call call) throws DebuggerException {
        if (call.name().equals("$writes") && call.arguments().size() == 1
                && target.history() != null) {
            return target.history().describe(locateField(call.arguments().get(0)));
        }
        if (call.name().equals("$wait") && call.arguments().size() == 1) {
            return Waits.describeAwaited(thread, evaluate(call.arguments().get(0)));
        }
        List<Object> arguments = evaluateAll(call.arguments());
        Object receiver = findReceiver(call.name());
        if (receiver == null) {
            throw new DebuggerException("no method " + call.name() + " here");
        }
        return target.calls().invoke(thread, receiver, call.name(), arguments);
    }

    /** Finds the object or class here that has a method of a name; null where none has. */
    Object findReceiver(String method) throws DebuggerException {
        ObjectReference self = self();
        for (int level = 0; self != null && level < OUTER_MAX; level++) {
            if (!self.referenceType().methodsByName(method).isEmpty()) {
                return self;
            }
            self = outerObject(self);
        }
        ReferenceType type = frameType();
        while (type != null && type.methodsByName(method).isEmpty()) {
            type = outerType(type);
        }
        return type;
    }

    private ReferenceType outerType(ReferenceType type) {
        int end = type.name().lastIndexOf('$');
        return end < 0 ? null : target.classNames().loaded(type.name().substring(0, end));
    }

    /** Finds a loaded class that is nested in the frame's class, or in one around that. */
    ReferenceType findNestedClass(String name) {
        ReferenceType found = null;
        for (ReferenceType type = frameType(); type != null && found == null; type = outerType(type)) {
            found = target.classNames().loaded(type.name() + "$" + name);
        }
        return found;
    }

    boolean passesValue(Field field) {
        return target.compiler().passesValue(field);
    }

    /** Returns a variable that has no name in the source; null for none. */
    Value pseudoVariable(String name) throws DebuggerException {
        FrameValues.Variable argument = findUnnamed(name);
        return argument != null ? argument.value() : pseudoVariables.get(name);
    }

    private Object evaluateBinary(Node.Binary binary) throws DebuggerException {
        String operator = binary.operator();
        if (operator.equals("&&") || operator.equals("||")) {
            boolean first = isTrue(binary.left());
            boolean isDecided = first == operator.equals("||");
            return target.vm().mirrorOf(isDecided ? first : isTrue(binary.right()));
        }
        return apply(operator, evaluateValue(binary.left()), evaluateValue(binary.right()));
    }

    private Object apply(String operator, Object left, Object right) throws DebuggerException {
        boolean isText = isText(left) || isText(right);
        if (operator.equals("+") && isText) {
            return toText(left) + toText(right);
        }
        boolean isEquality = operator.equals("==") || operator.equals("!=");
        Object first = Arithmetic.toJava(left);
        Object second = Arithmetic.toJava(right);
        boolean areObjects = !isPrimitive(left) && !isPrimitive(right);
        if (isEquality && (areObjects || first == null || second == null)) {
            boolean isSame = Objects.equals(interned(left, right), interned(right, left));
            return target.vm().mirrorOf(isSame == operator.equals("=="));
        }
        return Arithmetic.toMirror(target.vm(), Arithmetic.apply(
                operator, requirePrimitive(left), requirePrimitive(right)));
    }

    private static boolean isPrimitive(Object value) {
        return value instanceof com.sun.jdi.PrimitiveValue;
    }

    private static boolean isText(Object value) {
        return value instanceof String || value instanceof StringReference;
    }

    /** Returns a literal as the program's own literals are, for `==` with another string. */
    private Object interned(Object value, Object other) throws DebuggerException {
        if (value instanceof String text) {
            return other instanceof String ? value
                    : target.calls().invoke(thread, target.vm().mirrorOf(text), "intern", List.of());
        }
        return value;
    }

    private String toText(Object value) throws DebuggerException {
        if (value instanceof String text) {
            return text;
        }
        if (value instanceof StringReference text) {
            return text.value();
        }
        Object plain = Arithmetic.toJava(value);
        if (value == null || plain != null) {
            return String.valueOf(plain);
        }
        Value text = target.calls().invoke(thread, value, "toString", List.of());
        return text instanceof StringReference own ? own.value() : "null";
    }

    private boolean isInstance(Object value, String type) throws DebuggerException {
        if (value instanceof String) {
            return Set.of("String", "CharSequence", "Object", "Comparable").contains(type);
        }
        if (!(value instanceof ObjectReference object)) {
            throw new DebuggerException("instanceof needs an object");
        }
        String name = type.endsWith("[]") ? type : findClass(type).name();
        return Names.ancestry(object.referenceType()).contains(name);
    }

    private Object cast(String type, Object value) throws DebuggerException {
        if (Arithmetic.BOXES.containsKey(type)) {
            return Arithmetic.toMirror(target.vm(),
                    Arithmetic.cast(type, requirePrimitive(value)));
        }
        boolean isObject = value instanceof ObjectReference;
        if (isObject && !isInstance(value, type)) {
            throw new DebuggerException(Calls.describe(value) + " is no " + type);
        }
        return value;
    }

    private Value makeArray(Node.NewArray creation) throws DebuggerException {
        List<Object> items = evaluateAll(creation.items());
        int size = creation.size() == null ? items.size()
                : (Integer) Arithmetic.cast("int", requirePrimitive(evaluateValue(creation.size())));
        if (size < 0 || size > ITEMS_MAX) {
            throw new DebuggerException("an array has 0 to " + ITEMS_MAX + " elements here");
        }
        String element = creation.elementType();
        ArrayReference array = !Arithmetic.BOXES.containsKey(element)
                ? target.classNames().makeArray(findClass(element), size, thread)
                : ((ArrayType) target.vm().classesByName(element + "[]").get(0)).newInstance(size);
        for (int index = 0; index < items.size(); index++) {
            setElement(array, index, items.get(index));
        }
        return array;
    }

    // -- assignments -------------------------------------------------------------------------------

    private Object assign(Node.Assign node) throws DebuggerException {
        Object value = evaluateValue(node.value());
        if (!node.operator().isEmpty()) {
            Object before = evaluate(node.target());
            value = apply(node.operator(), before, value);
            if (Arithmetic.toJava(value) != null && isPrimitive(before)) {
                // `x += 1` casts to the type of x (JLS 15.26.2).
                value = cast(((Value) before).type().name(), value);
            }
        }
        return assign(node.target(), value);
    }

    private Object assign(Node place, Object value) throws DebuggerException {
        try {
            return store(place, value);
        } catch (InvalidTypeException | ClassNotLoadedException | ClassCastException problem) {
            throw new DebuggerException(Calls.describe(value) + " cannot be assigned to it");
        } catch (IllegalArgumentException isFinal) {
            throw new DebuggerException("it is final, or of another kind");
        }
    }

    private Object store(Node place, Object value)
            throws DebuggerException, InvalidTypeException, ClassNotLoadedException {
        if (place instanceof Node.Index index
                && evaluate(index.target()) instanceof ArrayReference array) {
            return setElement(array, indexOf(index), value);
        }
        if (place instanceof Node.Member member) {
            Object owner = evaluate(member.target());
            if (owner instanceof ObjectReference || owner instanceof ReferenceType) {
                return setField(fieldOf(owner, member.name()), value);
            }
        }
        if (place instanceof Node.Name name) {
            LocalVariable local = findLocal(name.text());
            if (local != null) {
                Value converted = convert(value, local.typeName());
                frame().setValue(local, converted);
                return converted;
            }
            FieldPosition field = findField(name.text());
            if (field != null) {
                return setField(field, value);
            }
            throw unknownName(name.text());
        }
        throw new DebuggerException("only variables, fields and array elements can be set");
    }

    private Value setField(FieldPosition field, Object value)
            throws DebuggerException, InvalidTypeException, ClassNotLoadedException {
        Value converted = convert(value, field.field().typeName());
        if (field.owner() != null) {
            field.owner().setValue(field.field(), converted);
        } else {
            ((ClassType) field.field().declaringType()).setValue(field.field(), converted);
        }
        return converted;
    }

    private Value setElement(ArrayReference array, int index, Object value)
            throws DebuggerException {
        checkIndex(array, index);
        String type = ((ArrayType) array.type()).componentTypeName();
        try {
            Value converted = convert(value, type);
            array.setValue(index, converted);
            return converted;
        } catch (InvalidTypeException | ClassNotLoadedException problem) {
            throw new DebuggerException(Calls.describe(value) + " is no " + Names.shorten(type));
        }
    }

    /** Converts a value for a variable of a type; a narrower number by constant, as javac does. */
    private Value convert(Object value, String type) throws DebuggerException {
        if (value instanceof Value one && isPrimitive(value)
                && Arithmetic.BOXES.containsKey(type)) {
            Type from = one.type();
            Object plain = Arithmetic.toJava(value);
            if (!Arithmetic.widens(from.name(), type)) {
                Object narrow = Arithmetic.cast(type, plain);
                if (!Arithmetic.apply("==", plain, narrow).equals(true)) {
                    throw new DebuggerException(plain + " does not fit into " + type);
                }
            }
        }
        Value converted = target.calls().convertTo(thread, value, type);
        boolean isOther = converted instanceof ObjectReference object
                && !Names.ancestry(object.referenceType()).contains(type);
        if (isOther && !type.endsWith("[]")) {
            throw new DebuggerException(Calls.describe(value) + " is no " + Names.shorten(type));
        }
        return converted;
    }
}
