package debugger.jdi;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.ArrayType;
import com.sun.jdi.ClassNotLoadedException;
import com.sun.jdi.ClassType;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.InterfaceType;
import com.sun.jdi.InvalidTypeException;
import com.sun.jdi.InvocationException;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Calls methods and constructors in the program, in a thread that an event has stopped. */
final class Calls {
    private static final int CALL_S = 5;
    private static final int NO_MATCH = -1;
    private static final int BOXED = 20;

    private final ExecutorService callers = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "call");
        thread.setDaemon(true);
        return thread;
    });
    /** Threads that run a call of ours: what stops them meanwhile is no stop of the user's. */
    private final Set<ThreadReference> calling = ConcurrentHashMap.newKeySet();

    boolean isCalling(ThreadReference thread) {
        return calling.contains(thread);
    }

    private interface Call {
        Value run() throws Exception;
    }

    /** Calls the method of this name that takes such arguments. */
    Value invoke(ThreadReference thread, Object target, String name, List<Object> arguments)
            throws DebuggerException {
        ReferenceType type = target instanceof ReferenceType itself
                ? itself : ((ObjectReference) target).referenceType();
        ObjectReference receiver = target instanceof ObjectReference object ? object : null;
        List<Method> named = new ArrayList<>(type.methodsByName(name));
        named.removeIf(method -> method.isStaticInitializer()
                || (receiver == null && !method.isStatic() && !name.equals("<init>")));
        Method method = choose(type, name, named, arguments);
        List<Value> values = convert(thread, method, arguments);
        int options = options(thread);
        if (name.equals("<init>")) {
            return run(thread, name + "()", () -> ((ClassType) type).newInstance(
                    thread, method, values, options));
        }
        if (!method.isStatic()) {
            return run(thread, name + "()", () -> receiver.invokeMethod(thread, method, values, options));
        }
        return run(thread, name + "()", () -> method.declaringType() instanceof InterfaceType face
                ? face.invokeMethod(thread, method, values, options)
                : ((ClassType) method.declaringType()).invokeMethod(
                        thread, method, values, options));
    }

    /** Calls a static method of a class of ours with values of its parameters' types. */
    Value invokeStatic(ThreadReference thread, Method method, List<Value> values)
            throws DebuggerException {
        return run(thread, "the expression", () -> ((ClassType) method.declaringType()).invokeMethod(
                thread, method, values, options(thread)));
    }

    private static int options(ThreadReference thread) {
        // A virtual thread cannot run alone: its carrier is suspended, too (JDK 25).
        return Threads.isVirtual(thread) ? 0 : ObjectReference.INVOKE_SINGLE_THREADED;
    }

    private Value run(ThreadReference thread, String name, Call call) throws DebuggerException {
        if (!calling.add(thread)) {
            throw new DebuggerException("the thread still runs another call");
        }
        var future = callers.submit(() -> {
            try {
                return call.run();
            } finally {
                calling.remove(thread);
            }
        });
        try {
            return future.get(CALL_S, TimeUnit.SECONDS);
        } catch (TimeoutException slow) {
            throw new DebuggerException(name + " has not returned within " + CALL_S
                    + " s; it may wait for a thread that is stopped");
        } catch (InterruptedException ended) {
            throw new DebuggerException("the debugger ends");
        } catch (ExecutionException failed) {
            throw explain(name, failed.getCause());
        }
    }

    private static DebuggerException explain(String name, Throwable problem) {
        if (problem instanceof InvocationException thrown) {
            return new DebuggerException(name + " threw "
                    + Throwables.summarize(thrown.exception()));
        }
        if (problem instanceof IncompatibleThreadStateException) {
            return new DebuggerException("no method can be called here: the thread was paused, "
                    + "and the JVM calls methods only in one that stopped at a breakpoint or step");
        }
        if (problem instanceof ClassNotLoadedException missing) {
            return new DebuggerException("the class " + missing.className() + " is not loaded");
        }
        return new DebuggerException(name + ": " + problem);
    }

    // -- which method ------------------------------------------------------------------------------

    private Method choose(ReferenceType type, String name, List<Method> named, List<Object> arguments)
            throws DebuggerException {
        Method best = null;
        int bestScore = Integer.MAX_VALUE;
        for (Method method : named) {
            int score = score(method, arguments);
            boolean isBetter = score != NO_MATCH && (score < bestScore
                    || (score == bestScore && best != null && best.isBridge()));
            if (isBetter) {
                best = method;
                bestScore = score;
            }
        }
        if (best != null) {
            return best;
        }
        String shown = name.equals("<init>") ? "constructor" : "method " + name;
        if (named.isEmpty()) {
            throw new DebuggerException(Names.shorten(type.name()) + " has no " + shown);
        }
        throw new DebuggerException("no " + shown + " of " + Names.shorten(type.name())
                + " takes these arguments; there is " + Names.describeMethod(named.get(0)));
    }

    /** Returns how far the arguments are from a method's parameters; -1 if it does not take them. */
    private int score(Method method, List<Object> arguments) {
        List<String> types = method.argumentTypeNames();
        int total = 0;
        if (types.size() == arguments.size()) {
            for (int index = 0; index < types.size() && total != NO_MATCH; index++) {
                int one = distance(arguments.get(index), types.get(index));
                total = one == NO_MATCH ? NO_MATCH : total + one;
            }
            if (total != NO_MATCH) {
                return total;
            }
        }
        return method.isVarArgs() ? scoreVariable(types, arguments) : NO_MATCH;
    }

    private int scoreVariable(List<String> types, List<Object> arguments) {
        int fixed = types.size() - 1;
        if (arguments.size() < fixed) {
            return NO_MATCH;
        }
        String item = Names.elementType(types.get(fixed));
        int total = 100;
        for (int index = 0; index < arguments.size(); index++) {
            int one = distance(arguments.get(index), index < fixed ? types.get(index) : item);
            if (one == NO_MATCH) {
                return NO_MATCH;
            }
            total += one;
        }
        return total;
    }

    private int distance(Object argument, String type) {
        boolean isPrimitive = Arithmetic.BOXES.containsKey(type);
        if (argument == null) {
            return isPrimitive ? NO_MATCH : 0;
        }
        if (argument instanceof PrimitiveValue value) {
            String own = value.type().name();
            if (isPrimitive) {
                return Arithmetic.widens(own, type)
                        ? Math.abs(Arithmetic.WIDENING.indexOf(type)
                                - Arithmetic.WIDENING.indexOf(own)) : NO_MATCH;
            }
            String box = Arithmetic.BOXES.get(own);
            boolean isSuper = type.equals("java.lang.Object") || type.equals("java.lang.Comparable")
                    || (type.equals("java.lang.Number") && !own.equals("boolean")
                            && !own.equals("char"));
            return type.equals(box) ? BOXED : isSuper ? BOXED + 1 : NO_MATCH;
        }
        if (isPrimitive) {
            Object plain = Arithmetic.unbox(argument);
            return plain instanceof PrimitiveValue value
                    && Arithmetic.widens(value.type().name(), type) ? BOXED : NO_MATCH;
        }
        if (argument instanceof String) {
            return type.equals("java.lang.String") ? 0
                    : Set.of("java.lang.CharSequence", "java.lang.Comparable", "java.lang.Object")
                            .contains(type) ? 1 : NO_MATCH;
        }
        return Names.ancestry(((ObjectReference) argument).referenceType()).indexOf(type);
    }

    // -- its arguments -----------------------------------------------------------------------------

    private List<Value> convert(ThreadReference thread, Method method, List<Object> arguments)
            throws DebuggerException {
        List<String> types = method.argumentTypeNames();
        List<Value> values = new ArrayList<>();
        int fixed = types.size();
        boolean isSpread = method.isVarArgs() && (arguments.size() != fixed
                || distance(arguments.get(fixed - 1), types.get(fixed - 1)) == NO_MATCH);
        fixed -= isSpread ? 1 : 0;
        for (int index = 0; index < fixed; index++) {
            values.add(convertTo(thread, arguments.get(index), types.get(index)));
        }
        if (isSpread) {
            values.add(collect(thread, method, types.get(fixed),
                    arguments.subList(fixed, arguments.size())));
        }
        return values;
    }

    private Value collect(ThreadReference thread, Method method, String type, List<Object> items)
            throws DebuggerException {
        try {
            ArrayType array = (ArrayType) method.argumentTypes().get(method.argumentTypes().size() - 1);
            ArrayReference result = array.newInstance(items.size());
            for (int index = 0; index < items.size(); index++) {
                result.setValue(index,
                        convertTo(thread, items.get(index), Names.elementType(type)));
            }
            return result;
        } catch (ClassNotLoadedException | InvalidTypeException problem) {
            throw new DebuggerException("cannot make an array of " + type);
        }
    }

    /** Converts a value to a type: widened, boxed or unboxed, a string of ours to the program's. */
    Value convertTo(ThreadReference thread, Object value, String type) throws DebuggerException {
        var vm = thread.virtualMachine();
        if (value instanceof String text) {
            return vm.mirrorOf(text);
        }
        if (Arithmetic.BOXES.containsKey(type)) {
            Object plain = Arithmetic.toJava(value);
            if (plain == null) {
                throw new DebuggerException(describe(value) + " is no " + type);
            }
            boolean isSame = plain instanceof Boolean == type.equals("boolean");
            if (!isSame) {
                throw new DebuggerException(plain + " is no " + type);
            }
            return Arithmetic.toMirror(vm, Arithmetic.cast(type, plain));
        }
        if (value instanceof PrimitiveValue primitive) {
            Object target = primitive;
            String own = primitive.type().name();
            for (var box : Arithmetic.BOXES.entrySet()) {
                if (box.getValue().equals(type)) {
                    target = Arithmetic.toMirror(vm,
                            Arithmetic.cast(box.getKey(), Arithmetic.toJava(primitive)));
                    own = box.getKey();
                }
            }
            ReferenceType box = vm.classesByName(Arithmetic.BOXES.get(own)).get(0);
            return invoke(thread, box, "valueOf", List.of(target));
        }
        return (Value) value;
    }

    static String describe(Object value) {
        return value == null ? "null"
                : value instanceof StringReference || value instanceof String ? "a String"
                : value instanceof Value one ? "a " + Names.shorten(one.type().name())
                : "a class";
    }
}
