package debugger.jdi;

import java.util.Map;

/** Writes types of the JVM as source text writes them (JVMS 4.7.9.1). */
final class SourceTypes {
    private static final Map<Character, String> PRIMITIVES = Map.of('Z', "boolean", 'B', "byte",
            'C', "char", 'S', "short", 'I', "int", 'J', "long", 'F', "float", 'D', "double");

    private final String signature;
    private int at;

    private SourceTypes(String signature) {
        this.signature = signature;
    }

    /** Returns a variable's type; of a type variable, whose bound is not known here, the erasure. */
    static String write(String signature, String generic) {
        boolean isVariable = generic == null || generic.replace("[", "").startsWith("T");
        return new SourceTypes(isVariable ? signature : generic).readType();
    }

    /** Returns a class's name: with dots, or by its binary name where source text has none. */
    static String writeName(String name) {
        return ClassStub.hasSourceName(name) ? name.replace('$', '.') : name;
    }

    private String readType() {
        char kind = signature.charAt(at++);
        switch (kind) {
            case '[':
                return readType() + "[]";
            case '*':
                return "?";
            case '+':
                return "? extends " + readBound();
            case '-':
                return "? super " + readBound();
            case 'T':
                at = signature.indexOf(';', at) + 1;
                return "?";
            case 'L':
                return readClass();
            default:
                return PRIMITIVES.get(kind);
        }
    }

    private String readBound() {
        String bound = readType();
        return bound.startsWith("?") ? "Object" : bound;
    }

    private String readClass() {
        StringBuilder binary = new StringBuilder();
        String arguments = "";
        while (true) {
            char letter = signature.charAt(at++);
            if (letter == ';') {
                return writeName(binary.toString()) + arguments;
            } else if (letter == '<') {
                arguments = readArguments();
            } else if (letter == '.') {
                // A class within a generic one: what its outer class was given is left out.
                binary.append('$');
                arguments = "";
            } else {
                binary.append(letter == '/' ? '.' : letter);
            }
        }
    }

    private String readArguments() {
        StringBuilder text = new StringBuilder("<");
        while (signature.charAt(at) != '>') {
            text.append(text.length() > 1 ? ", " : "").append(readType());
        }
        at++;
        return text.append('>').toString();
    }
}
