package debugger.jdi;

import com.sun.jdi.Method;
import java.util.ArrayList;
import java.util.List;

/** Writes trees of operands as Java's source would have them. */
final class CodeText {
    private static final int UNARY = 8;

    private CodeText() {}

    /** Returns the text of a tree of a method's code. */
    static String of(ValueNode node, Method method) {
        if (node instanceof ValueNode.Constant one) {
            return one.value instanceof String text ? Values.quote(text, '"')
                    : one.value instanceof Character ? Values.quote(one.value.toString(), '\'')
                    : String.valueOf(one.value);
        } else if (node instanceof ValueNode.Local local) {
            return variable(method, local.slot, local.code);
        } else if (node instanceof ValueNode.FieldRead read) {
            String owner = read.owner == null ? Names.shorten(read.type) : of(read.owner, method);
            return owner.equals("this") ? read.name : owner + "." + read.name;
        } else if (node instanceof ValueNode.Element element) {
            return of(element.array, method) + "[" + of(element.index, method) + "]";
        } else if (node instanceof ValueNode.Call call) {
            String owner = call.receiver == null ? Names.shorten(call.method.type())
                    : of(call.receiver, method);
            boolean isOwn = owner.equals("this") || call.receiver == null
                    && method.declaringType().name().equals(call.method.type());
            return (isOwn ? "" : owner + ".") + call.method.name()
                    + "(" + join(call.arguments, method) + ")";
        } else if (node instanceof ValueNode.Operation operation) {
            return operation(operation, method);
        } else if (node instanceof ValueNode.Created made) {
            return made.type.equals("lambda") ? made.type : "new " + Names.shorten(made.type);
        } else if (node instanceof ValueNode.Choice) {
            return "a condition";
        } else if (node instanceof ValueNode.Caught) {
            return "a caught exception";
        }
        return ((ValueNode.Unknown) node).what;
    }

    private static String operation(ValueNode.Operation operation, Method method) {
        List<ValueNode> operands = operation.operands;
        switch (operation.operator) {
            case "(box)", "(unbox)":
                return of(operands.get(0), method);
            case "(cast)":
                return "(" + operation.typeName() + ") " + within(operands.get(0), UNARY, method);
            case "length":
                return of(operands.get(0), method) + ".length";
            case "concat":
                return "a text of " + join(operands, method);
            case "instanceof":
                return of(operands.get(0), method) + " instanceof";
            default:
                String operator = operation.operator.equals("compare") ? "<>" : operation.operator;
                int rank = rank(operation);
                return operands.size() == 1 ? operator + within(operands.get(0), rank, method)
                        : within(operands.get(0), rank, method) + " " + operator + " "
                                + within(operands.get(1), rank + 1, method);
        }
    }

    /** Returns the text of an operand, in parentheses where its operator binds less than `rank`. */
    private static String within(ValueNode node, int rank, Method method) {
        boolean isLoose = node instanceof ValueNode.Operation one && rank(one) < rank;
        return isLoose ? "(" + of(node, method) + ")" : of(node, method);
    }

    /** Returns how strongly an operator binds; what is written otherwise binds most. */
    private static int rank(ValueNode.Operation operation) {
        if (operation.operator.equals("(box)") || operation.operator.equals("(unbox)")) {
            return operation.operands.get(0) instanceof ValueNode.Operation one ? rank(one) : UNARY + 1;
        }
        boolean isBinary = operation.operands.size() == 2 && !operation.operator.equals("concat");
        return !isBinary ? UNARY : switch (operation.operator) {
            case "*", "/", "%" -> UNARY - 1;
            case "+", "-" -> UNARY - 2;
            case "<<", ">>", ">>>" -> UNARY - 3;
            case "&" -> 3;
            case "^" -> 2;
            case "|" -> 1;
            default -> 4;
        };
    }

    private static String join(List<ValueNode> nodes, Method method) {
        List<String> texts = new ArrayList<>();
        nodes.forEach(one -> texts.add(of(one, method)));
        return String.join(", ", texts);
    }

    /** Returns the name of a variable; one of the compiler's own has none. */
    static String variable(Method method, int slot, long code) {
        if (slot == 0 && !method.isStatic()) {
            return "this";
        }
        LocalSlots.Variable found = LocalSlots.find(method, slot, code);
        int parameter = LocalSlots.parameterAt(method, slot);
        return found != null ? found.name() : parameter >= 0 ? "arg" + parameter : "a temporary";
    }

    /** Tells whether two texts are one expression, however it is spaced. */
    static boolean isSame(String one, String other) {
        return plain(one).equals(plain(other));
    }

    private static String plain(String text) {
        return text.replaceAll("\\s+|\\bthis\\.", "");
    }
}
