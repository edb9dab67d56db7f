package debugger.jdi;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Finds the lines of a method whose code has an instruction that returns (JVMS 6.5). */
final class ReturnLines {
    private static final int TABLESWITCH = 0xaa;
    private static final int LOOKUPSWITCH = 0xab;
    private static final int IRETURN = 0xac;
    private static final int RETURN = 0xb1;
    private static final int WIDE = 0xc4;
    private static final int IINC = 0x84;
    private static final int METHODS_MAX = 1000;
    // The length of each instruction, by its number; the three above have one of their own.
    private static final String LENGTHS = "1".repeat(16) + "23233" + "22222" + "1".repeat(28)
            + "22222" + "1".repeat(73) + "3" + "1".repeat(20) + "3".repeat(16) + "2" + "00"
            + "1".repeat(6) + "3".repeat(7) + "55" + "323" + "11" + "33" + "11" + "0433" + "55";

    // By method; null where its code or its lines cannot be read.
    private final Map<Method, Set<Integer>> known = new HashMap<>();

    /** Tells whether the line of a location may return from its method; true where that is unknown. */
    boolean canReturn(Location location) {
        Method method = location.method();
        if (!known.containsKey(method)) {
            if (known.size() >= METHODS_MAX) {
                known.clear();
            }
            known.put(method, findLines(method));
        }
        Set<Integer> lines = known.get(method);
        return lines == null || lines.contains(location.lineNumber());
    }

    private static Set<Integer> findLines(Method method) {
        Set<Integer> found = new HashSet<>();
        try {
            List<Location> lines = method.allLineLocations();
            byte[] code = method.bytecodes();
            for (int index = 0; index < lines.size(); index++) {
                int begin = (int) lines.get(index).codeIndex();
                int end = index + 1 < lines.size()
                        ? (int) lines.get(index + 1).codeIndex() : code.length;
                if (hasReturn(code, begin, end)) {
                    found.add(lines.get(index).lineNumber());
                }
            }
            return found;
        } catch (AbsentInformationException | UnsupportedOperationException
                | IndexOutOfBoundsException unknown) {
            return null;
        }
    }

    /** Tells whether the instructions from one index to another have one that returns. */
    static boolean hasReturn(byte[] code, int begin, int end) {
        int at = begin;
        while (at < end) {
            int operation = code[at] & 0xff;
            if (operation >= IRETURN && operation <= RETURN) {
                return true;
            }
            at += length(code, at, operation);
        }
        return false;
    }

    private static int length(byte[] code, int at, int operation) {
        int operands = (at + 4) & ~3;  // those of a switch begin at a multiple of four
        return switch (operation) {
            case WIDE -> (code[at + 1] & 0xff) == IINC ? 6 : 4;
            case TABLESWITCH -> operands + 12
                    + 4 * (word(code, operands + 8) - word(code, operands + 4) + 1) - at;
            case LOOKUPSWITCH -> operands + 8 + 8 * word(code, operands + 4) - at;
            default -> LENGTHS.charAt(operation) - '0';
        };
    }

    private static int word(byte[] code, int at) {
        return (code[at] & 0xff) << 24 | (code[at + 1] & 0xff) << 16
                | (code[at + 2] & 0xff) << 8 | (code[at + 3] & 0xff);
    }
}
