package debugger.jdi;

import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.Value;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Expressions that are kept with the objects that they read, to be read in any other method.
 *
 * A local variable is kept only where the expression reads a part of its object: the variable itself
 * belongs to its call.
 */
final class KeptChecks {
    private record Kept(Node node, Map<String, Value> values, ReferenceType type) {}

    private final Target target;
    private final Map<Integer, Kept> kept = new HashMap<>();

    KeptChecks(Target target) {
        this.target = target;
    }

    /** Keeps an expression as a frame sees it; false where that is not possible. */
    boolean keep(int number, String text, Evaluator evaluator) throws DebuggerException {
        if (Parser.needsCompiler(text)) {
            return false;
        }
        Node node = Parser.parse(text);
        Set<String> bases = new HashSet<>();
        Set<String> plain = new HashSet<>();
        collect(node, false, bases, plain);
        for (String one : plain) {
            if (evaluator.findLocal(one) != null) {
                return false;
            }
        }
        Map<String, Value> values = new LinkedHashMap<>();
        for (String one : bases) {
            if (evaluator.findLocal(one) != null) {
                values.put(one, (Value) evaluator.readName(one));
            }
        }
        ObjectReference self = evaluator.frame().thisObject();
        if (self != null) {
            values.put("this", self);
        }
        kept.put(number, new Kept(node, values, evaluator.frameType()));
        return true;
    }

    /** Reads a kept expression, whatever the thread runs now. */
    Object read(int number, FramePosition position) throws DebuggerException {
        Kept one = find(number);
        return new Evaluator(target, position, one.values(), one.type()).evaluate(one.node());
    }

    /** Tells whether a frame's variables have the very objects that were kept. */
    boolean isSame(int number, Evaluator evaluator) throws DebuggerException {
        for (Map.Entry<String, Value> one : find(number).values().entrySet()) {
            if (!Objects.equals(one.getValue(), evaluator.readName(one.getKey()))) {
                return false;
            }
        }
        return true;
    }

    private Kept find(int number) throws DebuggerException {
        Kept one = kept.get(number);
        if (one == null) {
            throw new DebuggerException("no expression " + number + " was kept");
        }
        return one;
    }

    private static void collect(Node node, boolean isBase, Set<String> bases, Set<String> plain) {
        if (node instanceof Node.Name name) {
            (isBase ? bases : plain).add(name.text());
        } else if (node instanceof Node.Member member) {
            collect(member.target(), true, bases, plain);
        } else if (node instanceof Node.Index index) {
            collect(index.target(), true, bases, plain);
            collect(index.index(), false, bases, plain);
        } else if (node instanceof Node.Call call) {
            if (call.target() != null) {
                collect(call.target(), true, bases, plain);
            }
            collectAll(call.arguments(), bases, plain);
        } else if (node instanceof Node.Binary binary) {
            collectAll(List.of(binary.left(), binary.right()), bases, plain);
        } else if (node instanceof Node.Unary unary) {
            collect(unary.operand(), false, bases, plain);
        } else if (node instanceof Node.Cast cast) {
            collect(cast.operand(), isBase, bases, plain);
        } else if (node instanceof Node.InstanceOf test) {
            collect(test.operand(), false, bases, plain);
        } else if (node instanceof Node.Conditional choice) {
            collectAll(List.of(choice.condition(), choice.whenTrue(), choice.whenFalse()), bases,
                    plain);
        } else if (node instanceof Node.NewObject made) {
            collectAll(made.arguments(), bases, plain);
        }
    }

    private static void collectAll(List<Node> nodes, Set<String> bases, Set<String> plain) {
        nodes.forEach(one -> collect(one, false, bases, plain));
    }
}
