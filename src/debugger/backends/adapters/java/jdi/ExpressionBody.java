package debugger.jdi;

import com.sun.jdi.LocalVariable;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Rewrites an expression as the body of a static method whose parameters are what it uses of the frame.
 *
 * `total + items.size()` in a method of Cart is `this_.total + items.size()` with the parameters
 * `Cart this_, List<Item> items`.
 */
final class ExpressionBody {
    private static final Set<String> KEYWORDS = Set.of("true", "false", "null", "new", "instanceof",
            "return", "if", "else", "for", "while", "do", "switch", "case", "default", "yield", "throw",
            "try", "catch", "finally", "final", "break", "continue", "class", "synchronized", "assert");
    private static final Set<String> TYPES = Set.of("boolean", "byte", "char", "short", "int", "long",
            "float", "double", "var", "void");
    private static final Set<String> ASSIGNING = Set.of("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
            "^=", "<<=", ">>=", ">>>=", "++", "--");

    private final Evaluator evaluator;
    private final List<Parser.Token> tokens;
    private final Map<String, String> types = new LinkedHashMap<>();
    private final Map<String, Value> values = new LinkedHashMap<>();
    private final Set<String> words = new HashSet<>();
    private final String text;

    ExpressionBody(Evaluator evaluator, String expression) throws DebuggerException {
        this.evaluator = evaluator;
        tokens = Parser.split(expression);
        Set<String> declared = listDeclared();
        StringBuilder rewritten = new StringBuilder();
        int end = 0;
        for (int at = 0; at < tokens.size(); at++) {
            Parser.Token token = tokens.get(at);
            boolean isName = token.kind().equals("word") && !declared.contains(token.text())
                    && !KEYWORDS.contains(token.text()) && !TYPES.contains(token.text());
            rewritten.append(expression, end, token.end() - token.text().length());
            rewritten.append(isName ? rewrite(at) : token.text());
            end = token.end();
        }
        text = rewritten.append(expression.substring(end)).toString();
    }

    String text() {
        return text;
    }

    /** Returns the parameters as a method declares them. */
    String declareParameters() {
        StringBuilder declared = new StringBuilder();
        types.forEach((name, type) -> declared.append(declared.length() > 0 ? ", " : "")
                .append(type).append(' ').append(name));
        return declared.toString();
    }

    List<Value> values() {
        return new ArrayList<>(values.values());
    }

    /** Returns the words that stand alone: those may need an import. */
    Set<String> words() {
        return words;
    }

    private String textAt(int index) {
        return index >= 0 && index < tokens.size() ? tokens.get(index).text() : "";
    }

    private boolean isWordAt(int index) {
        return index >= 0 && index < tokens.size() && tokens.get(index).kind().equals("word");
    }

    /** Returns the names that the expression declares: parameters of lambdas, variables in them. */
    private Set<String> listDeclared() {
        Set<String> found = new HashSet<>();
        for (int at = 0; at < tokens.size(); at++) {
            if (textAt(at).equals("->") && isWordAt(at - 1)) {
                found.add(textAt(at - 1));
            } else if (textAt(at).equals("->") && textAt(at - 1).equals(")")) {
                for (int back = at - 2; back >= 0 && !textAt(back).equals("("); back--) {
                    boolean isLast = textAt(back + 1).equals(",") || textAt(back + 1).equals(")");
                    if (isWordAt(back) && isLast) {
                        found.add(textAt(back));
                    }
                }
            } else if (isWordAt(at) && isDeclaration(at)) {
                found.add(textAt(at));
            }
        }
        return found;
    }

    /** Tells whether a word follows a type: `int n`, `List<String> names`, `int[] some`. */
    private boolean isDeclaration(int at) {
        if (isWordAt(at - 1)) {
            return !KEYWORDS.contains(textAt(at - 1)) && !textAt(at).equals("instanceof");
        }
        boolean isBehindType = textAt(at - 1).equals(">") || textAt(at - 1).equals("]");
        return isBehindType && Set.of("=", ";", ":").contains(textAt(at + 1));
    }

    private String rewrite(int at) throws DebuggerException {
        String name = textAt(at);
        String before = textAt(at - 1);
        if (before.equals(".") || before.equals("::")) {
            return name;
        }
        if (textAt(at + 1).equals("(") && !before.equals("new")) {
            return rewriteReceiver(name, evaluator.findReceiver(name));
        }
        if (name.equals("this")) {
            return addReceiver((ObjectReference) evaluator.readName(name));
        }
        Value own = evaluator.pseudoVariable(name);
        if (own != null) {
            return add(name, SourceTypes.writeName(own.type().name()), own);
        }
        StackFrame frame = evaluator.frame();
        LocalVariable local = evaluator.findLocal(name);
        if (local != null) {
            if (isAssigned(at)) {
                throw new DebuggerException("an expression with a lambda cannot assign to the local "
                        + "variable " + name + ": debugger set " + name + " EXPRESSION does");
            }
            return add(name, SourceTypes.write(local.signature(), local.genericSignature()),
                    frame.getValue(local));
        }
        FieldPosition field = evaluator.findField(name);
        if (field != null && evaluator.passesValue(field.field()) && !isAssigned(at)) {
            return add(name, SourceTypes.write(
                    field.field().signature(), field.field().genericSignature()), field.read());
        }
        if (field != null) {
            return rewriteReceiver(field.field().name(),
                    field.owner() != null ? field.owner() : field.field().declaringType());
        }
        words.add(name);
        ReferenceType nested = evaluator.findNestedClass(name);
        return nested != null ? SourceTypes.writeName(nested.name()) : name;
    }

    private boolean isAssigned(int at) {
        return ASSIGNING.contains(textAt(at + 1)) || Set.of("++", "--").contains(textAt(at - 1));
    }

    private String rewriteReceiver(String name, Object receiver) throws DebuggerException {
        if (receiver instanceof ObjectReference object) {
            return addReceiver(object) + "." + name;
        }
        if (receiver instanceof ReferenceType type) {
            return SourceTypes.writeName(type.name()) + "." + name;
        }
        words.add(name);
        return name;
    }

    private String addReceiver(ObjectReference object) throws DebuggerException {
        boolean isOwn = object.equals(evaluator.frame().thisObject());
        ReferenceType type = isOwn ? evaluator.frameType() : object.referenceType();
        String outer = isOwn ? "" : Names.shorten(type.name()).replaceAll("\\W", "_");
        return add("this_" + outer, SourceTypes.writeName(type.name()), object);
    }

    private String add(String name, String type, Value value) {
        types.put(name, type);
        values.put(name, value);
        return name;
    }
}
