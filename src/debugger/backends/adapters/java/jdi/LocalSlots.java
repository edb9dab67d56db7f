package debugger.jdi;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.LocalVariable;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import java.util.ArrayList;
import java.util.List;

/** The variables of a method by their slots, which the JDI knows and does not offer. */
final class LocalSlots {
    /** A variable, its slot, and the instructions at which it has a value. */
    record Variable(LocalVariable mirror, String name, int slot, long first, long last) {}

    private LocalSlots() {}

    /** Returns the variables of a method; empty where it was compiled without their names. */
    static List<Variable> of(Method method) {
        List<Variable> found = new ArrayList<>();
        try {
            for (LocalVariable one : method.variables()) {
                found.add(new Variable(one, Kotlin.plainName(one.name()), (int) read(one, "slot"),
                        ((Location) read(one, "scopeStart")).codeIndex(),
                        ((Location) read(one, "scopeEnd")).codeIndex()));
            }
        } catch (AbsentInformationException | ReflectiveOperationException unnamed) {
            return List.of();
        }
        return found;
    }

    private static Object read(LocalVariable variable, String name)
            throws ReflectiveOperationException {
        java.lang.reflect.Field field = variable.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(variable);
    }

    /** Returns the variable that a slot has at an instruction, or from the next one on; or null. */
    static Variable find(Method method, int slot, long code) {
        Variable next = null;
        for (Variable one : of(method)) {
            if (one.slot() != slot) {
                continue;
            }
            if (one.first() <= code && code <= one.last()) {
                return one;
            }
            // A variable has its value behind the instruction that stores its first one.
            boolean isNext = one.first() > code && one.first() <= code + 4;
            next = isNext && (next == null || one.first() < next.first()) ? one : next;
        }
        return next;
    }

    /** Returns the number of slots that the parameters take, with `this`. */
    static int countParameters(Method method) {
        int count = method.isStatic() ? 0 : 1;
        for (String one : ConstantPool.parameters(method.signature())) {
            count += ConstantPool.isWide(one) ? 2 : 1;
        }
        return count;
    }

    /** Returns the index of the parameter in a slot; -1 for `this`, and -2 where it is none. */
    static int parameterAt(Method method, int slot) {
        int at = method.isStatic() ? 0 : 1;
        if (slot < at) {
            return -1;
        }
        List<String> types = ConstantPool.parameters(method.signature());
        for (int index = 0; index < types.size(); index++) {
            if (at == slot) {
                return index;
            }
            at += ConstantPool.isWide(types.get(index)) ? 2 : 1;
        }
        return -2;
    }
}
