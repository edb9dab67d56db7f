package debugger.jdi;

import com.sun.jdi.StringReference;
import java.util.List;

/**
 * Answers the plain methods of strings without a call in the program.
 *
 * A condition on a string is then as cheap as one on a number, and can be evaluated in a thread that
 * was paused, where the JVM calls nothing.
 */
final class Strings {
    private Strings() {}

    /** Returns what a method gives: a String, a Boolean, an Integer or a Character; null unknown. */
    static Object call(Object owner, String name, List<Object> arguments) {
        String text = asText(owner);
        if (text == null) {
            return null;
        }
        if (arguments.isEmpty()) {
            return switch (name) {
                case "length" -> text.length();
                case "isEmpty" -> text.isEmpty();
                case "isBlank" -> text.isBlank();
                case "toString" -> text;
                case "trim" -> text.trim();
                case "hashCode" -> text.hashCode();
                default -> null;
            };
        }
        if (arguments.size() != 1) {
            return null;
        }
        String other = asText(arguments.get(0));
        if (other != null) {
            return switch (name) {
                case "equals" -> text.equals(other);
                case "equalsIgnoreCase" -> text.equalsIgnoreCase(other);
                case "contains" -> text.contains(other);
                case "startsWith" -> text.startsWith(other);
                case "endsWith" -> text.endsWith(other);
                case "indexOf" -> text.indexOf(other);
                case "compareTo" -> text.compareTo(other);
                default -> null;
            };
        }
        if (name.equals("charAt") && Arithmetic.toJava(arguments.get(0)) instanceof Integer index
                && index >= 0 && index < text.length()) {
            return text.charAt(index);
        }
        return null;
    }

    private static String asText(Object value) {
        return value instanceof String text ? text
                : value instanceof StringReference own ? own.value() : null;
    }
}
