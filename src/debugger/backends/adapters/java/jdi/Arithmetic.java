package debugger.jdi;

import com.sun.jdi.BooleanValue;
import com.sun.jdi.ByteValue;
import com.sun.jdi.CharValue;
import com.sun.jdi.DoubleValue;
import com.sun.jdi.FloatValue;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.LongValue;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.ShortValue;
import com.sun.jdi.VirtualMachine;
import java.util.List;
import java.util.Map;

/** Java's operators on numbers and truth values (JLS 5.6 and 15.17 to 15.22). */
final class Arithmetic {
    static final Map<String, String> BOXES = Map.of(
            "boolean", "java.lang.Boolean", "byte", "java.lang.Byte",
            "char", "java.lang.Character", "short", "java.lang.Short",
            "int", "java.lang.Integer", "long", "java.lang.Long",
            "float", "java.lang.Float", "double", "java.lang.Double");
    /** Each type widens to those behind it; `char` widens like `short`, but not from it. */
    static final List<String> WIDENING = List.of("byte", "short", "int", "long", "float", "double");

    private Arithmetic() {}

    /** Returns a boxed value's content, and other values unchanged. */
    static Object unbox(Object value) {
        if (value instanceof ObjectReference object
                && BOXES.containsValue(object.referenceType().name())) {
            return object.getValue(object.referenceType().fieldByName("value"));
        }
        return value;
    }

    /** Returns a primitive value of the program as one of ours; null for anything else. */
    static Object toJava(Object value) {
        Object plain = unbox(value);
        if (plain instanceof BooleanValue one) {
            return one.value();
        } else if (plain instanceof ByteValue one) {
            return one.value();
        } else if (plain instanceof CharValue one) {
            return one.value();
        } else if (plain instanceof ShortValue one) {
            return one.value();
        } else if (plain instanceof IntegerValue one) {
            return one.value();
        } else if (plain instanceof LongValue one) {
            return one.value();
        } else if (plain instanceof FloatValue one) {
            return one.value();
        } else if (plain instanceof DoubleValue one) {
            return one.value();
        }
        return null;
    }

    static PrimitiveValue toMirror(VirtualMachine vm, Object value) {
        if (value instanceof Boolean one) {
            return vm.mirrorOf(one);
        } else if (value instanceof Byte one) {
            return vm.mirrorOf(one);
        } else if (value instanceof Character one) {
            return vm.mirrorOf(one);
        } else if (value instanceof Short one) {
            return vm.mirrorOf(one);
        } else if (value instanceof Integer one) {
            return vm.mirrorOf(one);
        } else if (value instanceof Long one) {
            return vm.mirrorOf(one);
        } else if (value instanceof Float one) {
            return vm.mirrorOf(one);
        }
        return vm.mirrorOf((Double) value);
    }

    private static Number asNumber(Object value) throws DebuggerException {
        if (value instanceof Character letter) {
            return (int) letter;
        }
        if (value instanceof Number number) {
            return number;
        }
        throw new DebuggerException("a number is expected there, not " + value);
    }

    private static boolean isWhole(Number number) {
        return !(number instanceof Float || number instanceof Double);
    }

    /** Applies an operator to two numbers or truth values of ours. */
    static Object apply(String operator, Object left, Object right) throws DebuggerException {
        if (left instanceof Boolean first && right instanceof Boolean second) {
            return switch (operator) {
                case "&" -> first & second;
                case "|" -> first | second;
                case "^", "!=" -> first ^ second;
                case "==" -> first.equals(second);
                default -> throw unknown(operator);
            };
        }
        Number first = asNumber(left);
        Number second = asNumber(right);
        if (operator.startsWith("<<") || operator.startsWith(">>")) {
            return shift(operator, first, second);
        }
        if (isWhole(first) && isWhole(second)) {
            return first instanceof Long || second instanceof Long
                    ? applyLong(operator, first.longValue(), second.longValue(), true)
                    : applyLong(operator, first.intValue(), second.intValue(), false);
        }
        boolean isDouble = first instanceof Double || second instanceof Double;
        Object result = isDouble
                ? applyDouble(operator, first.doubleValue(), second.doubleValue())
                : applyDouble(operator, first.floatValue(), second.floatValue());
        return result instanceof Double number && !isDouble ? (Object) number.floatValue() : result;
    }

    private static Object applyLong(String operator, long left, long right, boolean isLong)
            throws DebuggerException {
        if ((operator.equals("/") || operator.equals("%")) && right == 0) {
            throw new DebuggerException("division by zero");
        }
        Object result = switch (operator) {
            case "+" -> left + right;
            case "-" -> left - right;
            case "*" -> left * right;
            case "/" -> left / right;
            case "%" -> left % right;
            case "&" -> left & right;
            case "|" -> left | right;
            case "^" -> left ^ right;
            default -> compare(operator, Long.compare(left, right));
        };
        // An int wraps as the low half of the same operation on longs does.
        return result instanceof Long number && !isLong ? (Object) number.intValue() : result;
    }

    private static Object applyDouble(String operator, double left, double right)
            throws DebuggerException {
        return switch (operator) {
            case "+" -> left + right;
            case "-" -> left - right;
            case "*" -> left * right;
            case "/" -> left / right;
            case "%" -> left % right;
            case "==" -> left == right;
            case "!=" -> left != right;
            case "<" -> left < right;
            case ">" -> left > right;
            case "<=" -> left <= right;
            case ">=" -> left >= right;
            default -> throw unknown(operator);
        };
    }

    private static boolean compare(String operator, int order) throws DebuggerException {
        return switch (operator) {
            case "==" -> order == 0;
            case "!=" -> order != 0;
            case "<" -> order < 0;
            case ">" -> order > 0;
            case "<=" -> order <= 0;
            case ">=" -> order >= 0;
            default -> throw unknown(operator);
        };
    }

    private static Object shift(String operator, Number left, Number right)
            throws DebuggerException {
        if (!isWhole(left) || !isWhole(right)) {
            throw unknown(operator);
        }
        int count = right.intValue();
        if (left instanceof Long number) {
            return operator.equals("<<") ? (Object) (number << count)
                    : operator.equals(">>") ? number >> count : number >>> count;
        }
        int number = left.intValue();
        return operator.equals("<<") ? (Object) (number << count)
                : operator.equals(">>") ? number >> count : number >>> count;
    }

    private static DebuggerException unknown(String operator) {
        return new DebuggerException("the operator " + operator + " does not take such values");
    }

    static Object applyUnary(String operator, Object value) throws DebuggerException {
        if (operator.equals("!")) {
            if (value instanceof Boolean truth) {
                return !truth;
            }
            throw unknown(operator);
        }
        if (operator.equals("~")) {
            return apply("^", value, -1);
        }
        return operator.equals("-") ? apply("*", value, -1) : apply("+", value, 0);
    }

    /** Converts a number of ours to a primitive type, as a cast does. */
    static Object cast(String type, Object value) throws DebuggerException {
        if (value instanceof Boolean && type.equals("boolean")) {
            return value;
        }
        Number number = asNumber(value);
        return switch (type) {
            case "byte" -> isWhole(number) ? number.byteValue() : (byte) number.intValue();
            case "short" -> isWhole(number) ? number.shortValue() : (short) number.intValue();
            case "char" -> (char) number.intValue();
            case "int" -> number.intValue();
            case "long" -> number.longValue();
            case "float" -> number.floatValue();
            case "double" -> number.doubleValue();
            default -> throw new DebuggerException("a number is no " + type);
        };
    }

    /** Tells whether a primitive type converts to another without a cast (JLS 5.1.2). */
    static boolean widens(String from, String to) {
        if (from.equals(to)) {
            return true;
        }
        int least = from.equals("char") ? WIDENING.indexOf("int") : WIDENING.indexOf(from) + 1;
        return least > 0 && WIDENING.indexOf(to) >= least;
    }
}
