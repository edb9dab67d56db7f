package debugger.jdi;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.ArrayType;
import com.sun.jdi.Field;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.VirtualMachine;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the next run is to record: what the chain needs, and what the code suggests it will need. */
final class RecordPlan {
    private static final int SUPPOSED_MAX = 60;
    private static final int DEPTH_MAX = 7;
    private static final int METHODS_MAX = 20_000;
    private static final Map<String, Integer> STORES = Map.of("I", 79, "J", 80, "F", 81, "D", 82,
            "B", 84, "Z", 84, "C", 85, "S", 86);

    private static final Map<String, String> USUAL = Map.of("java.util.Map", "java.util.HashMap",
            "java.util.List", "java.util.ArrayList", "java.util.Collection", "java.util.ArrayList",
            "java.util.Iterator", "java.util.ArrayList", "java.util.Deque", "java.util.ArrayDeque",
            "java.util.Queue", "java.util.ArrayDeque");

    private final VirtualMachine vm;
    private final ValueRecorder recorder;
    private final Set<String> wanted = new LinkedHashSet<>();
    private final Set<String> supposed = new LinkedHashSet<>();
    private final Set<String> visited = new HashSet<>();  // parameters
    private List<Method> methods;  // of the program's loaded classes

    RecordPlan(VirtualMachine vm, ValueRecorder recorder) {
        this.vm = vm;
        this.recorder = recorder;
    }

    List<Object> wanted() {
        return new ArrayList<>(wanted);
    }

    List<Object> supposed() {
        return new ArrayList<>(supposed);
    }

    /** Tells whether something is not recorded in this run; it is then asked for. */
    boolean mustAsk(String key) {
        boolean isMissing = recorder == null || !recorder.records(key);
        if (isMissing) {
            wanted.add(key);
        }
        return isMissing;
    }

    /** Returns the opcode that stores an element of an array. */
    static int storeOpcode(ArrayReference array) {
        String signature = ((ArrayType) array.referenceType()).componentSignature();
        return STORES.getOrDefault(signature, 83);
    }

    // -- what may be needed ------------------------------------------------------------------------

    /** Supposes that a tree's variables, fields and calls will be followed. */
    void suppose(Method method, ValueNode node) {
        suppose(method, node, DEPTH_MAX);
    }

    private boolean isNew(String key) {
        boolean isKnown = recorder != null && recorder.records(key);
        return !isKnown && supposed.size() < SUPPOSED_MAX && supposed.add(key);
    }

    private void suppose(Method method, ValueNode node, int depth) {
        if (depth == 0 || supposed.size() >= SUPPOSED_MAX) {
            return;
        }
        if (node instanceof ValueNode.Local local) {
            supposeLocal(method, local, depth);
        } else if (node instanceof ValueNode.FieldRead read) {
            List<ReferenceType> types = vm.classesByName(read.type);
            Field field = types.isEmpty() ? null : types.get(0).fieldByName(read.name);
            if (field != null && !Names.isLibrary(field.declaringType().name())) {
                supposeField(field, depth);
            }
        } else if (node instanceof ValueNode.Call call && !Names.isLibrary(call.method.type())) {
            findTargets(call, null).forEach(one -> supposeReturns(one, depth));
        } else if (node instanceof ValueNode.Call call && ContainerTrace.isRead(call)) {
            isNew("changes " + USUAL.getOrDefault(call.method.type(), call.method.type()));
        } else if (node instanceof ValueNode.Element element) {
            isNew("elements " + element.store);
        } else if (node instanceof ValueNode.Choice choice) {
            choice.alternatives.forEach(one -> suppose(method, one, depth - 1));
        }
        for (ValueNode one : node.parts()) {
            suppose(method, one, node instanceof ValueNode.Operation ? depth : depth - 1);
        }
    }

    private void supposeLocal(Method method, ValueNode.Local local, int depth) {
        boolean isStored = false;
        String key = ValueRecorder.methodKey("local", method) + " " + local.slot;
        for (StackAnalysis.Write one : StackAnalysis.of(method).writes()) {
            if (one.kind().equals("local") && one.slot() == local.slot) {
                if (!isStored && !isNew(key)) {
                    return;
                }
                isStored = true;
                suppose(method, one.value(), depth - 1);
            }
        }
        int parameter = LocalSlots.parameterAt(method, local.slot);
        if (parameter >= 0) {
            supposeArgument(method, parameter, depth);
        }
    }

    private void supposeArgument(Method method, int parameter, int depth) {
        if (!visited.add(method.name() + method.signature() + parameter)) {
            return;
        }
        for (Method caller : programMethods()) {
            for (ValueNode.Call one : StackAnalysis.of(caller).calls()) {
                boolean isIt = one.method.name().equals(method.name())
                        && one.method.descriptor().equals(method.signature())
                        && one.method.type().equals(method.declaringType().name());
                if (isIt && parameter < one.arguments.size()) {
                    suppose(caller, one.arguments.get(parameter), depth - 1);
                }
            }
        }
    }

    void supposeField(Field field) {
        supposeField(field, DEPTH_MAX);
    }

    private void supposeField(Field field, int depth) {
        if (!isNew(ValueRecorder.fieldKey(field)) && depth < DEPTH_MAX) {
            return;
        }
        isNew("made " + field.declaringType().name());
        for (Method method : programMethods()) {
            for (StackAnalysis.Write one : StackAnalysis.of(method).writes()) {
                if (one.kind().equals("field") && one.field().name().equals(field.name())
                        && one.field().type().equals(field.declaringType().name())) {
                    suppose(method, one.value(), depth - 1);
                }
            }
        }
    }

    /** Supposes that an exception's causes will be followed to where they were thrown. */
    void supposeThrown(ObjectReference thrown) {
        ObjectReference one = Throwables.cause(thrown);
        while (one != null && isNew(ValueRecorder.thrownKey(one.referenceType()))) {
            one = Throwables.cause(one);
        }
    }

    void supposeReturns(Method method) {
        supposeReturns(method, DEPTH_MAX);
    }

    private void supposeReturns(Method method, int depth) {
        if (!isNew(ValueRecorder.methodKey("returns", method)) && depth < DEPTH_MAX) {
            return;
        }
        for (StackAnalysis.Write one : StackAnalysis.of(method).writes()) {
            if (one.kind().equals("return")) {
                suppose(method, one.value(), depth - 1);
            }
        }
    }

    private List<Method> programMethods() {
        if (methods == null) {
            methods = new ArrayList<>();
            for (ReferenceType type : vm.allClasses()) {
                if (type.isPrepared() && !Names.isForeign(type.name())
                        && !(type instanceof ArrayType) && methods.size() < METHODS_MAX) {
                    type.methods().stream().filter(one -> StackAnalysis.of(one) != null)
                            .forEach(methods::add);
                }
            }
        }
        return methods;
    }

    /** Returns the loaded methods that a call may lead to: the object's own where it is known. */
    List<Method> findTargets(ValueNode.Call call, ObjectReference receiver) {
        List<Method> found = new ArrayList<>();
        String name = call.method.name();
        String descriptor = call.method.descriptor();
        if (receiver != null) {
            receiver.referenceType().methodsByName(name, descriptor).stream()
                    .filter(one -> StackAnalysis.of(one) != null).limit(1).forEach(found::add);
            return found;
        }
        for (Method one : programMethods()) {
            boolean fits = one.name().equals(name) && one.signature().equals(descriptor)
                    && (one.declaringType().name().equals(call.method.type())
                    || Names.ancestry(one.declaringType()).contains(call.method.type())
                    || isInherited(call.method.type(), one));
            if (fits) {
                found.add(one);
            }
        }
        return found;
    }

    private boolean isInherited(String type, Method method) {
        return vm.classesByName(type).stream().anyMatch(
                one -> Names.ancestry(one).contains(method.declaringType().name()));
    }
}
