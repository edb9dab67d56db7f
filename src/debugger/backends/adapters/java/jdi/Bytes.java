package debugger.jdi;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.ByteValue;
import com.sun.jdi.CharValue;
import com.sun.jdi.Value;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Arrays of bytes or characters that are a text, by the rule of output/byte_text.py. */
final class Bytes {
    private static final int LENGTH_MAX = 256;
    private static final int SHORTEST = 4;
    private static final double READABLE = 0.4;

    private Bytes() {}

    /** Returns `byte[5] "hello"`; null if the elements are no text. */
    static String format(ArrayReference array) {
        String type = array.type().name();
        int length = array.length();
        if (length < SHORTEST || !type.equals("byte[]") && !type.equals("char[]")) {
            return null;
        }
        List<Value> shown = array.getValues(0, Math.min(length, LENGTH_MAX));
        String text = type.equals("byte[]") ? decode(shown) : join(shown);
        if (text == null || !isReadable(text)) {
            return null;
        }
        String more = length > LENGTH_MAX ? "…" : "";
        return type.replace("]", length + "] ") + Values.quote(text, '"') + more;
    }

    private static String decode(List<Value> values) {
        byte[] content = new byte[values.size()];
        int size = 0;
        for (Value one : values) {
            content[size++] = ((ByteValue) one).value();
        }
        while (size > 0 && content[size - 1] == 0) {  // zeros fill a buffer
            size--;
        }
        // A cut may go through a character of up to four bytes.
        for (int end = size; end > Math.max(size - 4, 0); end--) {
            try {
                return StandardCharsets.UTF_8.newDecoder()
                        .decode(ByteBuffer.wrap(content, 0, end)).toString();
            } catch (CharacterCodingException partial) {
                if (values.size() < LENGTH_MAX) {
                    return null;
                }
            }
        }
        return null;
    }

    private static String join(List<Value> values) {
        StringBuilder text = new StringBuilder();
        for (Value one : values) {
            text.append(((CharValue) one).value());
        }
        int size = text.length();
        while (size > 0 && text.charAt(size - 1) == 0) {
            size--;
        }
        return text.substring(0, size);
    }

    private static boolean isReadable(String text) {
        long hidden = text.chars().filter(
                one -> Character.isISOControl(one) && "\n\t\r".indexOf(one) < 0).count();
        long letters = text.chars().filter(
                one -> Character.isLetterOrDigit(one) || one == ' ').count();
        return hidden == 0 && text.length() >= SHORTEST && letters >= READABLE * text.length();
    }
}
