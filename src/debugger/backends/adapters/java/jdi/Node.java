package debugger.jdi;

import java.util.List;

/** A node of an expression's syntax tree. */
sealed interface Node {
    /** A literal: a String, a Number of the literal's type, a Boolean, a Character, or null. */
    record Literal(Object value) implements Node {}

    /** A variable, a field, a class or the first part of a package, or `this`. */
    record Name(String text) implements Node {}

    record Member(Node target, String name) implements Node {}

    record Index(Node target, Node index) implements Node {}

    /** A call; without a target, of a method of the frame's own class. */
    record Call(Node target, String name, List<Node> arguments) implements Node {}

    record NewObject(String type, List<Node> arguments) implements Node {}

    /** An array by its sizes, or by its items. */
    record NewArray(String elementType, Node size, List<Node> items) implements Node {}

    record Unary(String operator, Node operand) implements Node {}

    record Binary(String operator, Node left, Node right) implements Node {}

    record Conditional(Node condition, Node whenTrue, Node whenFalse) implements Node {}

    record Cast(String type, Node operand) implements Node {}

    record InstanceOf(Node operand, String type) implements Node {}

    record ClassLiteral(String type) implements Node {}

    /** An assignment; the operator is empty, or the `+` of `+=`. */
    record Assign(Node target, String operator, Node value) implements Node {}

    /** `x++` and its like: the value before, where it is postfix. */
    record Increment(Node target, String operator, boolean isPostfix) implements Node {}
}
