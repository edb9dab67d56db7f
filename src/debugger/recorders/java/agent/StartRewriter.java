package debugger.counting;

import java.io.IOException;
import java.util.Map;

/**
 * Rewrites the JDK's class that starts processes, so that the command's words pass our method first.
 *
 * Each start of a process passes ProcessImpl.start, whose first argument is a copy of the words (JDK
 * 11 to 25): the program's own list stays as it is.
 */
final class StartRewriter extends ClassRewriter {
    static final String STARTER = "java/lang/ProcessImpl";
    private static final String METHOD = "start";
    private static final String WORDS = "([Ljava/lang/String;";
    private static final int STATIC = 0x8;

    private int changeMethod;

    private StartRewriter(byte[] file) {
        super(file);
    }

    static byte[] rewrite(byte[] file) throws IOException {
        return new StartRewriter(file).rewriteClass();
    }

    @Override
    void addMethods() throws IOException {
        changeMethod = constants.addMethod(CounterTable.START_METHOD, CounterTable.START_TYPE);
    }

    @Override
    void readOrigin(RawAttribute one) {
        // Its lines are not counted.
    }

    @Override
    byte[] rewriteCode(RawMethod method, byte[] content) throws IOException {
        if ((method.flags & STATIC) == 0 || !constants.text(method.name).equals(METHOD)
                || !constants.text(method.descriptor).startsWith(WORDS)) {
            return content;
        }
        byte[] entry = {
            0x2a,  // aload_0
            (byte) 0xb8, (byte) (changeMethod >> 8), (byte) changeMethod,  // invokestatic
            0x4b,  // astore_0
        };
        CodeAttribute code = new CodeAttribute(content, constants);
        try {
            return code.write(new CodeRewriter(code.code, entry, Map.of()));
        } catch (CodeRewriter.NoRoom never) {
            return content;
        }
    }
}
