package debugger.jdi;

import java.math.BigInteger;

/** Says that the result of an operation did not fit its type. */
final class OverflowText {
    private OverflowText() {}

    /** Returns what did not fit; null where everything fits, or nothing is known. */
    static String explain(
            ValueNode.Operation operation, ValueReader.Known left, ValueReader.Known right) {
        int bits = operation.type == 'I' ? 32 : operation.type == 'J' ? 64 : 0;
        boolean isCast = operation.operator.equals("(cast)");
        BigInteger first = whole(left);
        BigInteger second = isCast ? BigInteger.ZERO : whole(right);
        if (bits == 0 || first == null || second == null) {
            return null;
        }
        BigInteger exact = switch (operation.operator) {
            case "+", "(cast)" -> first.add(second);
            case "-" -> first.subtract(second);
            case "*" -> first.multiply(second);
            default -> BigInteger.ZERO;
        };
        if (exact.bitLength() < bits) {
            return null;
        }
        String text = isCast ? first.toString()
                : first + " " + operation.operator + " " + second + " = " + exact;
        return text + " does not fit " + operation.typeName();
    }

    private static BigInteger whole(ValueReader.Known known) {
        Object plain = known == null ? null : Arithmetic.toJava(known.value());
        if (plain instanceof Character letter) {
            return BigInteger.valueOf(letter);
        }
        boolean isWhole = plain instanceof Number && !(plain instanceof Float || plain instanceof Double);
        return isWhole ? BigInteger.valueOf(((Number) plain).longValue()) : null;
    }
}
