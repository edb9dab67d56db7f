package debugger.jdi;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How an instruction's operand is made: a tree by the bytecode, up to the variables that it reads.
 *
 * Two nodes are the same only if they are one object: `code` is the index of the instruction.
 */
abstract sealed class ValueNode {
    boolean isWide;  // a long or a double: two words of the stack

    ValueNode asWide(boolean isWide) {
        this.isWide = isWide;
        return this;
    }

    /** Returns the nodes that this one reads. */
    List<ValueNode> parts() {
        return List.of();
    }

    /** A literal: a Number, a String, or null; `code` is -1 for one that no instruction pushes. */
    static final class Constant extends ValueNode {
        final Object value;
        final int code;

        Constant(Object value, int code) {
            this.value = value;
            this.code = code;
        }
    }

    /** A local variable, a parameter or `this`, by its slot. */
    static final class Local extends ValueNode {
        final int slot;
        final int code;

        Local(int slot, int code) {
            this.slot = slot;
            this.code = code;
        }
    }

    /** A field; the owner of a static one is null. */
    static final class FieldRead extends ValueNode {
        final ValueNode owner;
        final String type;
        final String name;

        FieldRead(ValueNode owner, String type, String name) {
            this.owner = owner;
            this.type = type;
            this.name = name;
        }

        @Override
        List<ValueNode> parts() {
            return owner == null ? List.of() : List.of(owner);
        }
    }

    /** An element of an array. */
    static final class Element extends ValueNode {
        final ValueNode array;
        final ValueNode index;
        final int store;  // the opcode that writes such an element

        Element(ValueNode array, ValueNode index, int store) {
            this.array = array;
            this.index = index;
            this.store = store;
        }

        @Override
        List<ValueNode> parts() {
            return List.of(array, index);
        }
    }

    /** A call; the receiver of a static method is null. */
    static final class Call extends ValueNode {
        final ConstantPool.Member method;
        final ValueNode receiver;
        final List<ValueNode> arguments;
        final int code;

        Call(ConstantPool.Member method, ValueNode receiver, List<ValueNode> arguments, int code) {
            this.method = method;
            this.receiver = receiver;
            this.arguments = arguments;
            this.code = code;
        }

        @Override
        List<ValueNode> parts() {
            List<ValueNode> all = new ArrayList<>(arguments);
            if (receiver != null) {
                all.add(0, receiver);
            }
            return all;
        }
    }

    /** An operator of one to many operands: `+`, `concat`, `length`, `instanceof`. */
    static final class Operation extends ValueNode {
        private static final Map<Character, String> TYPES = Map.of('I', "int", 'J', "long",
                'F', "float", 'D', "double", 'B', "byte", 'C', "char", 'S', "short", 'Z', "boolean");

        final String operator;
        final char type;
        final List<ValueNode> operands;

        Operation(String operator, char type, List<ValueNode> operands) {
            this.operator = operator;
            this.type = type;
            this.operands = operands;
        }

        /** Returns the type of the result, of a number. */
        String typeName() {
            return TYPES.getOrDefault(type, "");
        }

        @Override
        List<ValueNode> parts() {
            return operands;
        }
    }

    /** One of several values, which conditions have chosen. */
    static final class Choice extends ValueNode {
        final List<ValueNode> alternatives;
        final List<ValueNode> conditions;

        Choice(List<ValueNode> alternatives, List<ValueNode> conditions) {
            this.alternatives = alternatives;
            this.conditions = conditions;
        }

        @Override
        List<ValueNode> parts() {
            return conditions;
        }
    }

    /** A new object or array. */
    static final class Created extends ValueNode {
        final String type;
        final int code;

        Created(String type, int code) {
            this.type = type;
            this.code = code;
        }
    }

    /** The exception that a handler caught. */
    static final class Caught extends ValueNode {}

    /** What the bytecode does not tell, as a value behind a jump. */
    static final class Unknown extends ValueNode {
        final String what;

        Unknown(String what) {
            this.what = what;
        }
    }
}
