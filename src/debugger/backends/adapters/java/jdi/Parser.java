package debugger.jdi;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses an expression of Java: all but lambdas, method references and switch (ExpressionCompiler). */
final class Parser {
    private static final int DEPTH_MAX = 200;
    private static final Pattern TOKEN = Pattern.compile(
            "(?<space>\\s+)"
            + "|(?<number>0[xX][0-9a-fA-F_]+[lL]?|0[bB][01_]+[lL]?"
            + "|(?:[0-9][0-9_]*\\.?[0-9_]*|\\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?[fFdDlL]?)"
            + "|(?<text>\"(?:[^\"\\\\]|\\\\.)*\")"
            + "|(?<letter>'(?:[^'\\\\]|\\\\.[0-9a-fA-F]*)')"
            + "|(?<word>[\\p{L}_$][\\p{L}\\p{N}_$]*)"
            + "|(?<sign>>>>=|<<=|>>=|->|::|\\+\\+|--|&&|\\|\\||==|!=|<=|>="
            + "|[+\\-*/%&|^]=|<<|[+\\-*/%&|^!~<>=?:.,;()\\[\\]{}])");
    private static final Set<String> PRIMITIVES = Set.of(
            "boolean", "byte", "char", "short", "int", "long", "float", "double");
    private static final List<Set<String>> LEVELS = List.of(
            Set.of("||"), Set.of("&&"), Set.of("|"), Set.of("^"), Set.of("&"), Set.of("==", "!="),
            Set.of("<", ">", "<=", ">=", "instanceof"), Set.of("<<", ">>", ">>>"),
            Set.of("+", "-"), Set.of("*", "/", "%"));
    private static final int RELATIONS = 6;
    private static final Set<String> COMPILED = Set.of("->", "::", "switch");

    /** A word, a number or a sign; `end` is where it ends in the text. */
    record Token(String kind, String text, int end) {}

    private static final Token END = new Token("end", "", -1);

    private final List<Token> tokens = new ArrayList<>();
    private final String source;
    private int at;
    private int depth;

    private Parser(String source) {
        this.source = source;
    }

    /** Parses a whole text. */
    static Node parse(String text) throws DebuggerException {
        Parser parser = new Parser(text);
        parser.splitTokens();
        Node node = parser.readAssignment();
        if (parser.peek() != END) {
            throw parser.unexpected();
        }
        return node;
    }

    /** Splits a text into its tokens. */
    static List<Token> split(String text) throws DebuggerException {
        Parser parser = new Parser(text);
        parser.splitTokens();
        return parser.tokens;
    }

    /** Tells whether an expression has what only a compiler understands. */
    static boolean needsCompiler(String text) throws DebuggerException {
        List<Token> tokens = split(text);
        for (int at = 0; at < tokens.size(); at++) {
            String word = tokens.get(at).text;
            if (COMPILED.contains(word) || (word.equals("instanceof") && isPattern(tokens, at + 1))) {
                return true;
            }
        }
        return false;
    }

    /** Tells whether a type is followed by what makes it a pattern: `Item one`, `Item(var price)`. */
    private static boolean isPattern(List<Token> tokens, int type) {
        int next = type + 1;
        while (next < tokens.size() && tokens.get(next).text.equals(".")) {
            next += 2;
        }
        return next < tokens.size()
                && (tokens.get(next).kind.equals("word") || tokens.get(next).text.equals("("));
    }

    private void splitTokens() throws DebuggerException {
        Matcher matcher = TOKEN.matcher(source);
        int start = 0;
        while (start < source.length()) {
            if (!matcher.find(start) || matcher.start() != start) {
                throw new DebuggerException("cannot read the expression at "
                        + source.substring(start));
            }
            for (String kind : List.of("number", "text", "letter", "word", "sign")) {
                if (matcher.group(kind) != null) {
                    tokens.add(new Token(kind, matcher.group(), matcher.end()));
                }
            }
            start = matcher.end();
        }
    }

    private Token peek() {
        return peek(0);
    }

    private Token peek(int ahead) {
        return at + ahead < tokens.size() ? tokens.get(at + ahead) : END;
    }

    private boolean isNext(String text) {
        return isSign(peek(), text);
    }

    private static boolean isSign(Token token, String text) {
        return (token.kind.equals("sign") || token.kind.equals("word")) && token.text.equals(text);
    }

    private boolean takeIf(String text) {
        boolean isThere = isNext(text);
        at += isThere ? 1 : 0;
        return isThere;
    }

    private void take(String text) throws DebuggerException {
        if (!takeIf(text)) {
            throw unexpected();
        }
    }

    private String takeWord() throws DebuggerException {
        if (!peek().kind.equals("word")) {
            throw unexpected();
        }
        return tokens.get(at++).text;
    }

    private DebuggerException unexpected() {
        return new DebuggerException(peek() == END
                ? "the expression ends too early"
                : "'" + peek().text + "' is not expected there in the expression");
    }

    private Node readAssignment() throws DebuggerException {
        if (++depth > DEPTH_MAX) {
            throw new DebuggerException("the expression is nested too deeply");
        }
        Node left = readConditional();
        if (takeIf("=")) {
            left = new Node.Assign(left, "", readAssignment());
        } else if (peek().kind.equals("sign") && peek().text.length() > 1
                && peek().text.endsWith("=") && !Set.of("==", "!=", "<=", ">=").contains(peek().text)) {
            String operator = tokens.get(at++).text;
            operator = operator.substring(0, operator.length() - 1);
            left = new Node.Assign(left, operator, readAssignment());
        }
        depth--;
        return left;
    }

    private Node readConditional() throws DebuggerException {
        Node condition = readBinary(0);
        if (!takeIf("?")) {
            return condition;
        }
        Node whenTrue = readAssignment();
        take(":");
        return new Node.Conditional(condition, whenTrue, readAssignment());
    }

    private Node readBinary(int level) throws DebuggerException {
        if (level == LEVELS.size()) {
            return readUnary();
        }
        Node left = readBinary(level + 1);
        while (true) {
            String operator = binaryOperator();
            if (!LEVELS.get(level).contains(operator)) {
                return left;
            }
            at += operator.startsWith(">>") ? operator.length() : 1;
            if (level == RELATIONS && operator.equals("instanceof")) {
                left = new Node.InstanceOf(left, readType());
            } else {
                left = new Node.Binary(operator, left, readBinary(level + 1));
            }
        }
    }

    /** Returns the operator that is next; `>>` are tokens of their own, for `List<List<X>>`. */
    private String binaryOperator() {
        Token token = peek();
        if (token == END || !(token.kind.equals("sign") || token.text.equals("instanceof"))) {
            return "";
        }
        StringBuilder shift = new StringBuilder(token.text);
        for (int ahead = 1; token.text.equals(">") && ahead < 3 && isSign(peek(ahead), ">")
                && peek(ahead).end == token.end + ahead; ahead++) {
            shift.append('>');
        }
        return shift.toString();
    }

    private Node readUnary() throws DebuggerException {
        for (String operator : List.of("!", "~", "-", "+")) {
            if (takeIf(operator)) {
                boolean isNegative = operator.equals("-") && peek().kind.equals("number");
                return isNegative ? readNumber("-") : new Node.Unary(operator, readUnary());
            }
        }
        for (String operator : List.of("++", "--")) {
            if (takeIf(operator)) {
                return new Node.Increment(readUnary(), operator.substring(1), false);
            }
        }
        Node cast = readCast();
        return cast != null ? cast : readPostfix();
    }

    /** Reads a cast; null, and nothing read, where the bracket is an expression's. */
    private Node readCast() throws DebuggerException {
        int start = at;
        if (!takeIf("(") || !peek().kind.equals("word")) {
            at = start;
            return null;
        }
        try {
            boolean isPrimitive = PRIMITIVES.contains(peek().text);
            String type = readType();
            take(")");
            Token next = peek();
            boolean isOperand = Set.of("text", "letter", "number").contains(next.kind)
                    || (next.kind.equals("word") && !next.text.equals("instanceof"))
                    || isNext("(") || isNext("!") || isNext("~");
            if (isPrimitive || isOperand) {
                return new Node.Cast(type, readUnary());
            }
        } catch (DebuggerException noType) {
            // It is an expression in brackets.
        }
        at = start;
        return null;
    }

    private Node readPostfix() throws DebuggerException {
        Node node = readPrimary();
        while (true) {
            if (takeIf(".")) {
                if (isNext("class")) {
                    at++;
                    node = new Node.ClassLiteral(dottedName(node));
                    continue;
                }
                skipTypeArguments();
                String name = takeWord();
                node = isNext("(")
                        ? new Node.Call(node, name, readArguments())
                        : new Node.Member(node, name);
            } else if (takeIf("[")) {
                node = new Node.Index(node, readAssignment());
                take("]");
            } else if (isNext("++") || isNext("--")) {
                node = new Node.Increment(node, tokens.get(at++).text.substring(1), true);
            } else {
                return node;
            }
        }
    }

    private String dottedName(Node node) throws DebuggerException {
        if (node instanceof Node.Name name) {
            return name.text();
        }
        if (node instanceof Node.Member member) {
            return dottedName(member.target()) + "." + member.name();
        }
        throw unexpected();
    }

    private List<Node> readArguments() throws DebuggerException {
        take("(");
        return readListUntil(")");
    }

    private List<Node> readListUntil(String end) throws DebuggerException {
        List<Node> items = new ArrayList<>();
        while (!takeIf(end)) {
            if (!items.isEmpty()) {
                take(",");
            }
            items.add(readAssignment());
        }
        return items;
    }

    private Node readPrimary() throws DebuggerException {
        Token token = peek();
        switch (token.kind) {
            case "number":
                return readNumber("");
            case "text":
                at++;
                return new Node.Literal(unescape(token.text));
            case "letter":
                at++;
                return new Node.Literal(unescape(token.text).charAt(0));
            case "word":
                return readWord();
            default:
                take("(");
                Node inner = readAssignment();
                take(")");
                return inner;
        }
    }

    private Node readWord() throws DebuggerException {
        String word = takeWord();
        return switch (word) {
            case "true" -> new Node.Literal(true);
            case "false" -> new Node.Literal(false);
            case "null" -> new Node.Literal(null);
            case "new" -> readNew();
            default -> isNext("(")
                    ? new Node.Call(null, word, readArguments())
                    : new Node.Name(word);
        };
    }

    private Node readNew() throws DebuggerException {
        String type = readQualifiedName();
        if (isNext("(")) {
            return new Node.NewObject(type, readArguments());
        }
        take("[");
        if (takeIf("]")) {
            take("{");
            return new Node.NewArray(type, null, readListUntil("}"));
        }
        Node size = readAssignment();
        take("]");
        return new Node.NewArray(type, size, List.of());
    }

    /** Reads a type; its type arguments are left out, as they are in the running program. */
    private String readType() throws DebuggerException {
        StringBuilder type = new StringBuilder(readQualifiedName());
        while (isNext("[") && isSign(peek(1), "]")) {
            at += 2;
            type.append("[]");
        }
        return type.toString();
    }

    private String readQualifiedName() throws DebuggerException {
        StringBuilder name = new StringBuilder(takeWord());
        skipTypeArguments();
        while (isNext(".") && peek(1).kind.equals("word") && !peek(1).text.equals("class")) {
            at++;
            name.append('.').append(takeWord());
            skipTypeArguments();
        }
        return name.toString();
    }

    /** Skips `<…>` where only types can stand; nothing where it is a comparison. */
    private void skipTypeArguments() {
        int start = at;
        if (!takeIf("<")) {
            return;
        }
        for (int open = 1; open > 0; at++) {
            Token token = peek();
            boolean isOfType = token.kind.equals("word")
                    || Set.of(",", ".", "?", "[", "]", "<", ">", "&").contains(token.text);
            if (token == END || !isOfType) {
                at = start;
                return;
            }
            open += isSign(token, "<") ? 1 : isSign(token, ">") ? -1 : 0;
        }
    }

    private Node readNumber(String sign) throws DebuggerException {
        String text = tokens.get(at++).text.replace("_", "");
        String lower = text.toLowerCase();
        boolean isHex = lower.startsWith("0x");
        try {
            if (!isHex && (lower.endsWith("f"))) {
                return new Node.Literal(Float.valueOf(sign + text));
            }
            if (!isHex && (lower.endsWith("d") || lower.contains(".") || lower.contains("e"))) {
                return new Node.Literal(Double.valueOf(sign + text));
            }
            boolean isLong = lower.endsWith("l");
            String digits = isLong ? lower.substring(0, lower.length() - 1) : lower;
            int radix = isHex ? 16 : digits.startsWith("0b") ? 2
                    : digits.length() > 1 && digits.startsWith("0") ? 8 : 10;
            digits = radix == 16 || radix == 2 ? digits.substring(2) : digits;
            if (radix == 10) {
                return new Node.Literal(isLong
                        ? (Object) Long.valueOf(sign + digits) : (Object) Integer.valueOf(sign + digits));
            }
            long value = Long.parseUnsignedLong(digits, radix);
            Object number = isLong ? (Object) value
                    : (Object) Integer.parseUnsignedInt(digits, radix);
            Node literal = new Node.Literal(number);
            return sign.isEmpty() ? literal : new Node.Unary(sign, literal);
        } catch (NumberFormatException tooLarge) {
            throw new DebuggerException("no such number: " + sign + text);
        }
    }

    private static String unescape(String quoted) throws DebuggerException {
        Matcher unicode = Pattern.compile("\\\\u+([0-9a-fA-F]{4})").matcher(quoted);
        String plain = unicode.replaceAll(one -> Matcher.quoteReplacement(
                String.valueOf((char) Integer.parseInt(one.group(1), 16))));
        try {
            return plain.substring(1, plain.length() - 1).translateEscapes();
        } catch (IllegalArgumentException unknown) {
            throw new DebuggerException("an escape in " + quoted + " is not known");
        }
    }
}
