package debugger.jdi;

import com.sun.jdi.ThreadReference;

/** Fills the text of a logpoint: `order {order.id} of {items.size()}`. */
final class LogText {
    // Around the message of an expression that cannot be evaluated; no value is written so.
    private static final String PROBLEM = "<error: %s>";

    private LogText() {}

    static String fill(String template, Evaluator evaluator, Values values, ThreadReference thread) {
        StringBuilder result = new StringBuilder();
        int at = 0;
        while (at < template.length()) {
            int open = template.indexOf('{', at);
            int close = open < 0 ? -1 : closing(template, open);
            if (close < 0) {
                return result.append(template, at, template.length()).toString();
            }
            result.append(template, at, open);
            try {
                String expression = template.substring(open + 1, close);
                result.append(values.format(evaluator.evaluate(expression), thread));
            } catch (DebuggerException problem) {
                result.append(PROBLEM.formatted(problem.getMessage()));
            }
            at = close + 1;
        }
        return result.toString();
    }

    /** Returns where a brace is closed, outside of quotes; -1 if nowhere. */
    private static int closing(String text, int open) {
        int depth = 0;
        char quote = 0;
        for (int at = open; at < text.length(); at++) {
            char letter = text.charAt(at);
            if (quote != 0) {
                at += letter == '\\' ? 1 : 0;
                quote = letter == quote ? 0 : quote;
            } else if (letter == '"' || letter == '\'') {
                quote = letter;
            } else if (letter == '{') {
                depth++;
            } else if (letter == '}' && --depth == 0) {
                return at;
            }
        }
        return -1;
    }
}
