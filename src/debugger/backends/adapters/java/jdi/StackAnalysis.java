package debugger.jdi;

import com.sun.jdi.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.WeakHashMap;

/**
 * The operands of a method's instructions, as trees, by one pass over its bytecode.
 *
 * Compilers leave the stack empty where a loop jumps back, so one pass in the order of the code sees
 * every value. Code that no jump before it leads to is a handler of exceptions, or reached from below.
 */
final class StackAnalysis {
    private static final int DEPTH_MAX = 24;
    private static final int CHOICES_MAX = 12;
    private static final int GUARD_LINES = 6;  // between a condition and what it guards
    private static final Map<Method, StackAnalysis> KNOWN = new WeakHashMap<>();

    /** A write of a local variable, a field or an element, or a return; `value` is what is written. */
    record Write(int code, String kind, int slot, ConstantPool.Member field, ValueNode owner,
            ValueNode index, ValueNode value) {}

    /** A conditional jump, with what it compares. */
    record Branch(int code, int target, String relation, List<ValueNode> compared) {}

    private final Method method;
    private final boolean isDynamic;  // of Groovy
    private final byte[] bytes;
    private final ConstantPool constants;
    private final TreeMap<Integer, List<ValueNode>> stacks = new TreeMap<>();
    private final Map<Integer, List<ValueNode>> arriving = new HashMap<>();
    private final List<Write> writes = new ArrayList<>();
    private final List<Branch> branches = new ArrayList<>();
    private final List<ValueNode.Call> lambdas = new ArrayList<>();
    private final List<ValueNode.Call> calls = new ArrayList<>();
    private final Set<Integer> loopHeads = new HashSet<>();
    private final List<Integer> handlers = new ArrayList<>();  // of exceptions
    private List<ValueNode> stack = new ArrayList<>();
    private boolean isReached = true;

    private StackAnalysis(Method method) {
        this.method = method;
        isDynamic = Names.ancestry(method.declaringType()).contains("groovy.lang.GroovyObject");
        bytes = method.bytecodes();
        constants = new ConstantPool(method.declaringType());
        int code = 0;
        while (code < bytes.length) {
            enter(code);
            stacks.put(code, List.copyOf(stack));
            int length = length(code);
            apply(code, u1(code));
            code += length;
        }
    }

    /** Returns the analysis of a method; null for one without code. */
    static synchronized StackAnalysis of(Method method) {
        if (method.isAbstract() || method.isNative()) {
            return null;
        }
        return KNOWN.computeIfAbsent(method, StackAnalysis::new);
    }

    /** Returns the operand stack before an instruction, the topmost last. */
    List<ValueNode> stackAt(long code) {
        Map.Entry<Integer, List<ValueNode>> found = stacks.floorEntry((int) code);
        return found == null ? List.of() : found.getValue();
    }

    List<Write> writes() {
        return writes;
    }

    List<Branch> branches() {
        return branches;
    }

    /** Returns the write at an instruction; null where it is none. */
    Write writeAt(long code) {
        return writes.stream().filter(one -> one.code() == code).findFirst().orElse(null);
    }

    int opcode(long code) {
        return u1((int) code);
    }

    /** Returns the call that an instruction makes: its receiver and arguments; null for no call. */
    ValueNode.Call callAt(long code) {
        int opcode = u1((int) code);
        if (opcode < 182 || opcode > 185) {
            return null;
        }
        return readCall((int) code, opcode, new ArrayList<>(stackAt(code)));
    }

    /** Returns what gave a temporary of the compiler its value; null if it changes, as an index does. */
    Write onlyStore(ValueNode.Local local) {
        Write found = null;
        for (Write one : writes) {
            if (one.kind().equals("local") && one.slot() == local.slot) {
                boolean isBefore = one.code() < local.code;
                if (!isBefore && isIncrement(one)) {
                    return null;
                } else if (!isBefore) {
                    return found;  // the slot's next variable
                }
                found = one;
            }
        }
        return found == null || isIncrement(found) ? null : found;
    }

    /** Tells whether a write adds a literal to the variable itself. */
    static boolean isIncrement(Write write) {
        return write.value() instanceof ValueNode.Operation operation
                && operation.operands.size() == 2
                && operation.operands.get(0) instanceof ValueNode.Local own && own.slot == write.slot()
                && operation.operands.get(1) instanceof ValueNode.Constant;
    }

    // -- reading -----------------------------------------------------------------------------------

    private int u1(int at) {
        return bytes[at] & 0xff;
    }

    private int u2(int at) {
        return u1(at) << 8 | u1(at + 1);
    }

    private int s2(int at) {
        return (short) u2(at);
    }

    private int s4(int at) {
        return u2(at) << 16 | u2(at + 2);
    }

    private int length(int code) {
        int opcode = u1(code);
        int base = (code & ~3) + 4;  // of a switch: its numbers are aligned
        return switch (opcode) {
            case 16, 18, 21, 22, 23, 24, 25, 54, 55, 56, 57, 58, 169, 188 -> 2;
            case 17, 19, 20, 132, 178, 179, 180, 181, 182, 183, 184, 187, 189, 192, 193, 198, 199 -> 3;
            case 185, 186, 200, 201 -> 5;
            case 197 -> 4;
            case 170 -> base - code + 12 + 4 * (s4(base + 8) - s4(base + 4) + 1);
            case 171 -> base - code + 8 + 8 * s4(base + 4);
            case 196 -> u1(code + 1) == 132 ? 6 : 4;
            default -> opcode >= 153 && opcode <= 168 ? 3 : 1;
        };
    }

    // -- the stack ---------------------------------------------------------------------------------

    private void enter(int code) {
        List<ValueNode> other = arriving.remove(code);
        if (!isReached && other == null) {
            int opcode = u1(code);
            boolean isHandler = (opcode >= 75 && opcode <= 78) || opcode == 58 || opcode == 87;
            if (isHandler) {
                handlers.add(code);
            }
            stack = new ArrayList<>(isHandler
                    ? List.of(new ValueNode.Caught()) : List.of());
        } else if (!isReached) {
            stack = new ArrayList<>(other);
        } else if (other != null) {
            stack = merge(code, other, stack);
        }
        isReached = true;
    }

    /** Returns the stack of an instruction that two ways lead to. */
    private List<ValueNode> merge(int code, List<ValueNode> one, List<ValueNode> other) {
        List<ValueNode> merged = new ArrayList<>(other);
        for (int at = 0; at < Math.min(one.size(), other.size()); at++) {
            if (one.get(at) != other.get(at)) {
                List<ValueNode> all = new ArrayList<>();
                addAlternatives(all, one.get(at));
                addAlternatives(all, other.get(at));
                ValueNode made = all.size() > CHOICES_MAX
                        ? new ValueNode.Unknown("one of many values")
                        : new ValueNode.Choice(all, conditionsBefore(code));
                merged.set(at, made.asWide(all.get(0).isWide));
            }
        }
        return merged;
    }

    private static void addAlternatives(List<ValueNode> all, ValueNode node) {
        if (node instanceof ValueNode.Choice choice) {
            all.addAll(choice.alternatives);
        } else {
            all.add(node);
        }
    }

    /** Returns what the conditional jumps of the statement before an instruction compare. */
    private List<ValueNode> conditionsBefore(int code) {
        int line = lineOf(code);
        List<ValueNode> found = new ArrayList<>();
        for (Branch one : branches) {
            if (one.target() > one.code() && one.target() <= code && lineOf(one.code()) == line) {
                found.addAll(one.compared());
            }
        }
        return found;
    }

    int lineOf(long code) {
        return method.locationOfCodeIndex(code) == null
                ? -1 : method.locationOfCodeIndex(code).lineNumber();
    }

    private void push(ValueNode node) {
        stack.add(node);
    }

    private ValueNode pop() {
        return stack.isEmpty() ? new ValueNode.Unknown("a value behind a jump")
                : stack.remove(stack.size() - 1);
    }

    /** Tells whether a jump leads back to an instruction. */
    boolean isLoopHead(int code) {
        return loopHeads.contains(code);
    }

    private void jump(int target, int from) {
        if (target <= from) {
            loopHeads.add(target);
        } else {
            arriving.merge(target, new ArrayList<>(stack), (one, other) -> merge(target, one, other));
        }
    }

    private void leave() {
        isReached = false;
        stack = new ArrayList<>();
    }

    private void operate(String operator, char type, int count) {
        List<ValueNode> operands = new ArrayList<>();
        for (int one = 0; one < count; one++) {
            operands.add(0, pop());
        }
        ValueNode made = new ValueNode.Operation(operator, type, operands)
                .asWide(type == 'J' || type == 'D');
        push(depth(made) > DEPTH_MAX ? new ValueNode.Unknown("a long expression").asWide(made.isWide) : made);
    }

    private static int depth(ValueNode node) {
        int most = 0;
        for (ValueNode one : node.parts()) {
            most = Math.max(most, depth(one));
        }
        return most + 1;
    }

    // -- instructions ------------------------------------------------------------------------------

    private void apply(int code, int opcode) {
        if (opcode == 0) {
            return;  // kotlinc marks the ends of inlined code so
        } else if (opcode <= 20) {
            Object value = constant(code, opcode);
            push(new ValueNode.Constant(value, code).asWide(value instanceof Long || value instanceof Double));
        } else if (opcode <= 45) {
            // In the order of int, long, float, double, reference; the short forms by four.
            int type = opcode < 26 ? opcode - 21 : (opcode - 26) / 4;
            push(new ValueNode.Local(slot(code, opcode, 26), code).asWide(type == 1 || type == 3));
        } else if (opcode <= 53) {
            ValueNode index = pop();
            // The stores are in the same order as the loads.
            push(new ValueNode.Element(pop(), index, opcode + 33).asWide(opcode == 47 || opcode == 49));
        } else if (opcode <= 78) {
            ValueNode value = pop();
            addWrite(code, "local", slot(code, opcode, 59), null, null, null, value);
        } else if (opcode <= 86) {
            ValueNode value = pop();
            ValueNode index = pop();
            addWrite(code, "element", -1, null, pop(), index, value);
        } else if (opcode <= 95) {
            shuffle(opcode);
        } else if (opcode <= 131) {
            calculate(opcode);
        } else if (opcode == 132) {
            addIncrement(code, u1(code + 1), (byte) u1(code + 2));
        } else if (opcode <= 147) {
            convert(opcode);
        } else if (opcode <= 152) {
            operate("compare", 'I', 2);
        } else if (opcode <= 177 || (opcode >= 198 && opcode <= 201)) {
            branch(code, opcode);
        } else {
            applyObjects(code, opcode);
        }
    }

    private void applyObjects(int code, int opcode) {
        switch (opcode) {
            case 178 -> push(field(code, null));
            case 180 -> push(field(code, pop()));
            case 179, 181 -> {
                ValueNode value = pop();
                ValueNode owner = opcode == 181 ? pop() : null;
                addWrite(code, "field", -1, constants.member(u2(code + 1)), owner, null, value);
            }
            case 182, 183, 184, 185 -> invoke(code, opcode);
            case 186 -> invokeDynamic(code);
            case 187 -> push(new ValueNode.Created(constants.className(u2(code + 1)), code));
            case 188, 189 -> {
                pop();
                push(new ValueNode.Created(opcode == 188 ? "array"
                        : constants.className(u2(code + 1)) + "[]", code));
            }
            case 190 -> operate("length", 'I', 1);
            case 191 -> leave();
            case 193 -> operate("instanceof", 'I', 1);
            case 194, 195 -> pop();
            case 196 -> wide(code);
            case 197 -> {
                for (int one = 0; one < u1(code + 3); one++) {
                    pop();
                }
                push(new ValueNode.Created("array", code));
            }
            default -> {
                // 192, a cast, changes nothing; the others are not made by compilers.
            }
        }
    }

    private void wide(int code) {
        int opcode = u1(code + 1);
        if (opcode == 132) {
            addIncrement(code, u2(code + 2), s2(code + 4));
        } else if (opcode <= 25) {
            push(new ValueNode.Local(u2(code + 2), code).asWide(opcode == 22 || opcode == 24));
        } else {
            addWrite(code, "local", u2(code + 2), null, null, null, pop());
        }
    }

    private void addIncrement(int code, int slot, int amount) {
        ValueNode by = new ValueNode.Operation("+", 'I', List.of(
                new ValueNode.Local(slot, code), new ValueNode.Constant(amount, code)));
        addWrite(code, "local", slot, null, null, null, by);
    }

    /** Returns what the instruction that increments a variable adds; null of any other one. */
    Integer incrementAt(int code) {
        int opcode = u1(code);
        if (opcode == 132) {
            return Integer.valueOf((byte) u1(code + 2));
        }
        return opcode == 196 && u1(code + 1) == 132 ? Integer.valueOf(s2(code + 4)) : null;
    }

    /** Tells whether code between two instructions is jumped over under a condition. */
    boolean branchesBetween(int first, long last) {
        return branches.stream().anyMatch(one -> one.code() > first && one.code() < last);
    }

    private void addWrite(int code, String kind, int slot, ConstantPool.Member field,
            ValueNode owner, ValueNode index, ValueNode value) {
        writes.add(new Write(code, kind, slot, field, owner, index, value));
    }

    private ValueNode field(int code, ValueNode owner) {
        ConstantPool.Member member = constants.member(u2(code + 1));
        return new ValueNode.FieldRead(owner, member.type(), member.name())
                .asWide(ConstantPool.isWide(member.descriptor()));
    }

    private Object constant(int code, int opcode) {
        if (opcode == 1) {
            return null;
        } else if (opcode <= 8) {
            return opcode - 3;
        } else if (opcode <= 10) {
            return (long) (opcode - 9);
        } else if (opcode <= 13) {
            return (float) (opcode - 11);
        } else if (opcode <= 15) {
            return (double) (opcode - 14);
        } else if (opcode == 16) {
            return (int) (byte) u1(code + 1);
        } else if (opcode == 17) {
            return s2(code + 1);
        }
        int number = opcode == 18 ? u1(code + 1) : u2(code + 1);
        Object literal = constants.literal(number);
        return literal != null ? literal : "class " + number;
    }

    /** Returns the slot of a load or store, whose short forms come in fours. */
    private int slot(int code, int opcode, int shortFirst) {
        return opcode < shortFirst ? u1(code + 1) : (opcode - shortFirst) & 3;
    }

    private void shuffle(int opcode) {
        // Long and double values are one node here, so the forms for two words are those of one.
        switch (opcode) {
            case 87 -> pop();
            case 88 -> popWords(2);
            case 95 -> {
                ValueNode top = pop();
                ValueNode below = pop();
                push(top);
                push(below);
            }
            case 89, 90, 91 -> copyTop(1, opcode - 89);
            default -> copyTop(2, opcode - 92);
        }
    }

    private List<ValueNode> popWords(int words) {
        List<ValueNode> found = new ArrayList<>();
        int count = 0;
        while (count < words) {
            ValueNode node = pop();
            found.add(0, node);
            count += node.isWide ? 2 : 1;
        }
        return found;
    }

    private void copyTop(int words, int below) {
        List<ValueNode> top = popWords(words);
        List<ValueNode> under = below == 0 ? List.of() : popWords(below);
        stack.addAll(top);
        stack.addAll(under);
        stack.addAll(top);
    }

    /** Applies the arithmetic of two or one operands, in the order of the opcodes. */
    private void calculate(int opcode) {
        String types = "IJFD";
        if (opcode <= 115) {
            String operator = List.of("+", "-", "*", "/", "%").get((opcode - 96) / 4);
            operate(operator, types.charAt(opcode & 3), 2);
        } else if (opcode <= 119) {
            operate("-", types.charAt(opcode & 3), 1);
        } else {
            String operator = List.of("<<", ">>", ">>>", "&", "|", "^").get((opcode - 120) / 2);
            operate(operator, types.charAt(opcode & 1), 2);
        }
    }

    private void convert(int opcode) {
        // i2l, i2f, i2d, l2i, l2f, l2d, f2i, f2l, f2d, d2i, d2l, d2f, i2b, i2c, i2s
        char type = "JFDIFDIJDIJFBCS".charAt(opcode - 133);
        operate("(cast)", type, 1);
    }

    private void branch(int code, int opcode) {
        if (opcode == 167 || opcode == 200) {
            jump(code + (opcode == 167 ? s2(code + 1) : s4(code + 1)), code);
            leave();
        } else if (opcode == 170 || opcode == 171) {
            switchOver(code, opcode);
        } else if (opcode >= 172) {
            if (opcode == 198 || opcode == 199) {
                compare(code, opcode == 198 ? "== null" : "!= null", 1);
                return;
            }
            if (opcode < 177) {
                addWrite(code, "return", -1, null, null, null, pop());
            }
            leave();
        } else if (opcode <= 166) {
            String relation = List.of("==", "!=", "<", ">=", ">", "<=").get(
                    opcode <= 158 ? opcode - 153 : opcode <= 164 ? opcode - 159 : opcode - 165);
            compare(code, relation, opcode <= 158 ? 1 : 2);
        } else {
            leave();  // jsr and ret, which no compiler makes any more
        }
    }

    private void compare(int code, String relation, int count) {
        List<ValueNode> compared = new ArrayList<>();
        for (int one = 0; one < count; one++) {
            compared.add(0, pop());
        }
        // Numbers that are no int are compared first; what counts are the two.
        if (compared.get(0) instanceof ValueNode.Operation one && one.operator.equals("compare")) {
            compared = one.operands;
        }
        int target = code + s2(code + 1);
        branches.add(new Branch(code, target, relation, compared));
        jump(target, code);
    }

    private void switchOver(int code, int opcode) {
        ValueNode chosen = pop();
        int base = (code & ~3) + 4;
        boolean isTable = opcode == 170;
        int count = isTable ? s4(base + 8) - s4(base + 4) + 1 : s4(base + 4);
        branches.add(new Branch(code, code + s4(base), "switch", List.of(chosen)));
        jump(code + s4(base), code);
        for (int one = 0; one < count; one++) {
            int at = isTable ? base + 12 + 4 * one : base + 12 + 8 * one;
            jump(code + s4(at), code);
        }
        leave();
    }

    private void invoke(int code, int opcode) {
        ValueNode.Call call = readCall(code, opcode, stack);
        calls.add(call);
        String type = ConstantPool.returned(call.method.descriptor());
        boolean isBoxing = call.method.name().equals("valueOf") && call.arguments.size() == 1
                && Arithmetic.BOXES.containsValue(call.method.type())
                && call.method.descriptor().length() > 3 && call.method.descriptor().charAt(2) == ')';
        boolean isUnboxing = call.method.name().endsWith("Value") && call.arguments.isEmpty()
                && Arithmetic.BOXES.containsValue(call.method.type());
        if (isBoxing) {
            push(new ValueNode.Operation("(box)", 'L', call.arguments));
        } else if (isUnboxing) {
            push(new ValueNode.Operation("(unbox)", type.charAt(0), List.of(call.receiver))
                    .asWide(ConstantPool.isWide(type)));
        } else if (!type.equals("V")) {
            push(call.asWide(ConstantPool.isWide(type)));
        }
    }

    /** Takes a call's operands from a stack. */
    private ValueNode.Call readCall(int code, int opcode, List<ValueNode> from) {
        ConstantPool.Member member = constants.member(u2(code + 1));
        List<ValueNode> arguments = new ArrayList<>();
        List<String> types = ConstantPool.parameters(member.descriptor());
        for (int one = types.size() - 1; one >= 0; one--) {
            arguments.add(0, withType(popFrom(from), types.get(one)));
        }
        ValueNode receiver = opcode == 184 ? null : popFrom(from);
        return new ValueNode.Call(member, receiver, arguments, code);
    }

    /** Returns a constant as the parameter's type has it: bytecode knows `true` and 'x' as numbers. */
    private static ValueNode withType(ValueNode node, String type) {
        if (node instanceof ValueNode.Constant one && one.value instanceof Integer number) {
            if (type.equals("Z")) {
                return new ValueNode.Constant(number != 0, one.code);
            } else if (type.equals("C")) {
                return new ValueNode.Constant((char) number.intValue(), one.code);
            }
        }
        return node;
    }

    private static ValueNode popFrom(List<ValueNode> from) {
        return from.isEmpty() ? new ValueNode.Unknown("a value behind a jump")
                : from.remove(from.size() - 1);
    }

    private void invokeDynamic(int code) {
        ConstantPool.Member member = constants.member(u2(code + 1));
        int count = ConstantPool.parameters(member.descriptor()).size();
        String type = ConstantPool.returned(member.descriptor());
        if (member.name().startsWith("makeConcat")) {
            operate("concat", 'L', count);
            return;
        }
        List<ValueNode> captured = new ArrayList<>();
        for (int one = 0; one < count; one++) {
            captured.add(0, pop());
        }
        // A lambda is of an interface; records, switches and each call of Groovy are written so, too.
        boolean isLambda = type.startsWith("L") && !isDynamic
                && !type.equals("Ljava/lang/Object;") && !type.equals("Ljava/lang/String;");
        if (isLambda) {
            lambdas.add(new ValueNode.Call(member, null, captured, code));
            push(new ValueNode.Created("lambda", code));
        } else if (isDynamic && member.name().equals("cast") && captured.size() == 1) {
            push(captured.get(0));
        } else if (!type.equals("V")) {
            push(new ValueNode.Unknown("a value of " + member.name())
                    .asWide(ConstantPool.isWide(type)));
        }
    }

    List<ValueNode.Call> calls() {
        return calls;
    }

    /** Returns what the condition compares under which a statement is reached; empty without one. */
    List<ValueNode> guardOf(int first, int last) {
        List<ValueNode> found = List.of();
        int at = -1;
        for (Branch one : branches) {
            boolean isGuard = one.code() < first && one.target() > last
                    && lineOf(first) - lineOf(one.code()) <= GUARD_LINES;
            if (isGuard) {
                found = one.compared();
                at = one.code();
            }
        }
        int guard = at;
        boolean isHandled = handlers.stream().anyMatch(one -> one > guard && one < first);
        return isHandled ? List.of() : found;
    }

    /** Returns the lambdas that the method makes, with what they capture. */
    List<ValueNode.Call> lambdas() {
        return lambdas;
    }
}
