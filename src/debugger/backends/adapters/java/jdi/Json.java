package debugger.jdi;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads and writes JSON: objects as maps, arrays as lists, whole numbers as Long. */
final class Json {
    private static final int DEPTH_MAX = 200;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Parses one value. Throws IllegalArgumentException for anything else. */
    static Object parse(String text) {
        Json reader = new Json(text);
        Object value = reader.readValue(0);
        reader.skipSpace();
        if (reader.at < text.length()) {
            throw reader.unexpected();
        }
        return value;
    }

    private Object readValue(int depth) {
        skipSpace();
        if (depth > DEPTH_MAX || at >= text.length()) {
            throw unexpected();
        }
        char first = text.charAt(at);
        return switch (first) {
            case '{' -> readObject(depth);
            case '[' -> readArray(depth);
            case '"' -> readString();
            case 't' -> readWord("true", true);
            case 'f' -> readWord("false", false);
            case 'n' -> readWord("null", null);
            default -> readNumber();
        };
    }

    private Map<String, Object> readObject(int depth) {
        Map<String, Object> members = new LinkedHashMap<>();
        at++;
        skipSpace();
        while (!takeIf('}')) {
            if (!members.isEmpty()) {
                take(',');
                skipSpace();
            }
            String name = readString();
            skipSpace();
            take(':');
            members.put(name, readValue(depth + 1));
            skipSpace();
        }
        return members;
    }

    private List<Object> readArray(int depth) {
        List<Object> items = new ArrayList<>();
        at++;
        skipSpace();
        while (!takeIf(']')) {
            if (!items.isEmpty()) {
                take(',');
            }
            items.add(readValue(depth + 1));
            skipSpace();
        }
        return items;
    }

    private String readString() {
        take('"');
        StringBuilder result = new StringBuilder();
        while (true) {
            char letter = next();
            if (letter == '"') {
                return result.toString();
            }
            if (letter != '\\') {
                result.append(letter);
                continue;
            }
            char escaped = next();
            switch (escaped) {
                case 'n' -> result.append('\n');
                case 't' -> result.append('\t');
                case 'r' -> result.append('\r');
                case 'b' -> result.append('\b');
                case 'f' -> result.append('\f');
                case 'u' -> {
                    result.append((char) Integer.parseInt(text, at, at + 4, 16));
                    at += 4;
                }
                default -> result.append(escaped);
            }
        }
    }

    private Object readWord(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw unexpected();
        }
        at += word.length();
        return value;
    }

    private Object readNumber() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String digits = text.substring(start, at);
        try {
            return Long.valueOf(digits);
        } catch (NumberFormatException notWhole) {
            return Double.valueOf(digits);
        }
    }

    private char next() {
        if (at >= text.length()) {
            throw unexpected();
        }
        return text.charAt(at++);
    }

    private void take(char wanted) {
        if (next() != wanted) {
            at--;
            throw unexpected();
        }
    }

    private boolean takeIf(char wanted) {
        boolean isNext = at < text.length() && text.charAt(at) == wanted;
        at += isNext ? 1 : 0;
        return isNext;
    }

    private void skipSpace() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private IllegalArgumentException unexpected() {
        return new IllegalArgumentException("malformed JSON at character " + at);
    }

    /** Formats a value of maps, lists, strings, numbers, booleans and null. */
    static String format(Object value) {
        StringBuilder out = new StringBuilder();
        write(out, value);
        return out.toString();
    }

    private static void write(StringBuilder out, Object value) {
        if (value instanceof Map<?, ?> members) {
            String separator = "{";
            for (Map.Entry<?, ?> member : members.entrySet()) {
                out.append(separator);
                writeString(out, String.valueOf(member.getKey()));
                out.append(':');
                write(out, member.getValue());
                separator = ",";
            }
            out.append(members.isEmpty() ? "{}" : "}");
        } else if (value instanceof Iterable<?> items) {
            String separator = "[";
            for (Object item : items) {
                out.append(separator);
                write(out, item);
                separator = ",";
            }
            out.append(separator.equals("[") ? "[]" : "]");
        } else if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else {
            writeString(out, value.toString());
        }
    }

    private static void writeString(StringBuilder out, String text) {
        out.append('"');
        for (int index = 0; index < text.length(); index++) {
            char letter = text.charAt(index);
            if (letter == '"' || letter == '\\') {
                out.append('\\').append(letter);
            } else if (letter < ' ' || Character.isSurrogate(letter)) {
                // A lone surrogate is no UTF-8: all of them are written as escapes.
                out.append(String.format("\\u%04x", (int) letter));
            } else {
                out.append(letter);
            }
        }
        out.append('"');
    }
}
