package debugger.jdi;

import com.sun.jdi.ArrayReference;
import com.sun.jdi.ClassType;
import com.sun.jdi.Field;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.List;

/**
 * Follows a value back from a stop, through what was recorded before it.
 *
 * Each step has the tree of a value, in a frame of a moment. The moment of the stop is followed up its
 * stack; a variable, a field or an element leads to the recorded moment that wrote it, a call to that
 * of its return. What is not recorded is asked for, and found in the next run.
 */
final class ValueTrace {
    private static final int LINKS_MAX = 12;
    private static final int STEPS_MAX = 60;

    /** A value to follow: its tree, in a frame of a moment; the value where it is known. */
    record Cursor(ValueNode node, Moment moment, int index, ValueReader.Known value) {
        RecordedFrame frame() {
            return moment.frames().get(index);
        }

        Method method() {
            return frame().method();
        }

        Cursor to(ValueNode other) {
            return new Cursor(other, moment, index, value);
        }
    }

    private final ValueReader reader;
    private final ValueRecorder recorder;
    private final ChainReport report;
    private final RecordPlan plan;
    private final ContainerTrace containers;
    private ValueNode changedLoop;  // the call of an iterator that failed, or null
    private Moment changedAt;

    ValueTrace(Target target) {
        reader = new ValueReader(target.vm());
        recorder = target.recorder();
        plan = new RecordPlan(target.vm(), recorder);
        report = new ChainReport(target);
        containers = new ContainerTrace(this);
    }

    /** Tells whether a call failed because its container was changed meanwhile. */
    boolean isChangedLoop(Cursor at, ValueNode.Call call) {
        return changedLoop == call && at.moment() == changedAt;
    }

    ContainerTrace containers() {
        return containers;
    }

    void setChangedLoop(ValueNode call, Moment moment) {
        changedLoop = call;
        changedAt = moment;
    }

    ValueReader reader() {
        return reader;
    }

    ChainReport report() {
        return report;
    }

    RecordPlan plan() {
        return plan;
    }

    ValueRecorder recorder() {
        return recorder;
    }

    /** Follows a value, and returns the chain as JSON. */
    String follow(Cursor first) {
        Cursor at = first;
        for (int step = 0; at != null; step++) {
            if (report.count() >= LINKS_MAX || step >= STEPS_MAX) {
                report.end("bound", "after " + report.count() + " links");
                break;
            }
            at = next(at);
        }
        return report.format(plan);
    }

    private Cursor next(Cursor at) {
        ValueNode node = at.node();
        if (node instanceof ValueNode.Constant one) {
            return report.end("constant", CodeText.of(node, at.method()) + " is a literal at "
                    + report.place(at.frame().at(one.code)));
        } else if (node instanceof ValueNode.Caught) {
            return followCaught(at);
        } else if (node instanceof ValueNode.Local local) {
            return followLocal(at, local);
        } else if (node instanceof ValueNode.FieldRead read) {
            return followField(at, read);
        } else if (node instanceof ValueNode.Element element) {
            return followElement(at, element);
        } else if (node instanceof ValueNode.Call call) {
            return followCall(at, call);
        } else if (node instanceof ValueNode.Operation operation) {
            return followOperation(at, operation);
        } else if (node instanceof ValueNode.Choice choice) {
            return followChoice(at, choice);
        } else if (node instanceof ValueNode.Created made) {
            return report.end("allocation", CodeText.of(made, at.method()) + " at "
                    + report.place(at.frame()));
        }
        return report.end("not followed", CodeText.of(node, at.method()) + " at "
                + report.place(at.frame()));
    }

    /** Reads a tree in the frame of a cursor, with what was read when its moment came. */
    ValueReader.Known read(ValueNode node, Cursor at) {
        ValueReader.Known known = at.moment().known().get(node);
        if (known != null) {
            return known;
        }
        if (node instanceof ValueNode.Local local && isTemporary(local, at.method())) {
            StackAnalysis.Write store = StackAnalysis.of(at.method()).onlyStore(local);
            return store == null ? null : read(store.value(), at);
        }
        ValueReader.Known now = reader.read(node, at.frame(), at.moment().isStop());
        return now == null && node instanceof ValueNode.Call call
                ? containers.findRemoved(at, call) : now;
    }

    private static boolean isTemporary(ValueNode.Local local, Method method) {
        return CodeText.variable(method, local.slot, local.code).equals("a temporary");
    }

    /** Returns a temporary's own tree, as of the array that a loop goes through. */
    static ValueNode resolve(ValueNode node, Method method) {
        if (node instanceof ValueNode.Local local && isTemporary(local, method)) {
            StackAnalysis.Write store = StackAnalysis.of(method).onlyStore(local);
            return store == null ? node : store.value();
        }
        return node;
    }

    // -- variables ---------------------------------------------------------------------------------

    private Cursor followLocal(Cursor at, ValueNode.Local local) {
        Method method = at.method();
        StackAnalysis analysis = StackAnalysis.of(method);
        int parameter = LocalSlots.parameterAt(method, local.slot);
        List<StackAnalysis.Write> stores = analysis.writes().stream()
                .filter(one -> one.kind().equals("local") && one.slot() == local.slot).toList();
        if (stores.isEmpty() || parameter == -1) {
            return parameter >= -1 ? followParameter(at, parameter)
                    : report.end("not followed", "a variable that nothing assigns");
        }
        StackAnalysis.Write only = parameter < 0 ? analysis.onlyStore(local) : null;
        if (only != null && only.value() instanceof ValueNode.Caught) {
            return followCaught(at);
        }
        String name = CodeText.variable(method, local.slot, local.code);
        String key = ValueRecorder.methodKey("local", method) + " " + local.slot;
        if (plan.mustAsk(key)) {
            stores.forEach(one -> plan.suppose(method, one.value()));
            return report.pause("the assignments of " + name + " are seen by a further run");
        }
        List<Moment> seen = recorder.before(key, at.moment().number()).stream()
                .filter(one -> isInFrame(one, at)).toList();
        if (seen.isEmpty() && parameter >= 0 && !recorder.isCut()) {
            return followParameter(at, parameter);
        }
        if (seen.isEmpty()) {
            return endUnseen("no assignment of " + name + " was recorded");
        }
        return followStore(at, name, local.slot, parameter, seen);
    }

    private static boolean isInFrame(Moment one, Cursor at) {
        return one.thread().equals(at.moment().thread())
                && one.depth() == at.moment().depthOf(at.index())
                && one.frames().get(0).method().equals(at.method());
    }

    private Cursor followStore(
            Cursor at, String name, int slot, int parameter, List<Moment> seen) {
        StackAnalysis analysis = StackAnalysis.of(at.method());
        int turns = 0;
        while (turns < seen.size() - 1 && isIncrement(analysis, seen.get(turns))) {
            turns++;
        }
        Moment last = seen.get(turns);
        StackAnalysis.Write write = analysis.writeAt(last.frames().get(0).code());
        boolean isEntry = write == null || !write.kind().equals("local") || write.slot() != slot;
        if (isEntry && analysis.isLoopHead(0)) {
            return report.end("not followed", name + " is assigned in a loop from the first line on");
        }
        if (turns > 0) {
            Moment step = seen.get(0);
            report.add("computed", name + " was increased " + turns + (turns == 1 ? " time" : " times"),
                    step, 0).put("new", report.text(at.value()));
        }
        ValueReader.Known value = turns == 0 ? at.value() : null;
        if (isEntry) {
            return followParameter(new Cursor(at.node(), last, 0, value), parameter);
        }
        value = value != null ? value : last.known().get(write.value());
        report.add("written", name + " assigned", last, 0).put("new", report.text(value));
        return new Cursor(write.value(), last, 0, value);
    }

    private static boolean isIncrement(StackAnalysis analysis, Moment moment) {
        StackAnalysis.Write write = analysis.writeAt(moment.frames().get(0).code());
        return write != null && StackAnalysis.isIncrement(write);
    }

    Cursor endUnseen(String what) {
        return recorder.isCut()
                ? report.end("bound", what + ": too much happened to record all of it")
                : report.end("not followed", what);
    }

    /** Follows a parameter, or `this` for -1, to the call of its frame. */
    private Cursor followParameter(Cursor at, int parameter) {
        Method method = at.method();
        String name = parameter < 0 ? "this" : CodeText.variable(method, slotOf(method, parameter), 0);
        int above = at.index() + 1;
        if (above >= at.moment().frames().size()) {
            boolean isMain = method.name().equals("main");
            return report.end(isMain ? "input" : "not followed", isMain
                    ? name + " has the program's arguments" : "the thread begins in "
                    + Names.function(method));
        }
        RecordedFrame caller = at.moment().frames().get(above);
        ValueNode.Call call = caller.isOwn() ? StackAnalysis.of(caller.method()).callAt(caller.code())
                : null;
        if (call == null || !call.method.name().equals(method.name())) {
            return followCaptured(at, parameter, name, caller);
        }
        ValueNode argument = parameter < 0 ? call.receiver
                : parameter < call.arguments.size() ? call.arguments.get(parameter) : null;
        if (argument == null) {
            return report.end("not followed", "the call of " + Names.function(method));
        }
        report.add("passed", "passed as " + name + " to " + Names.function(method), at.moment(), above)
                .put("new", report.text(at.value()));
        return new Cursor(argument, at.moment(), above, at.value());
    }

    private static int slotOf(Method method, int parameter) {
        int slot = method.isStatic() ? 0 : 1;
        List<String> types = ConstantPool.parameters(method.signature());
        for (int index = 0; index < parameter; index++) {
            slot += ConstantPool.isWide(types.get(index)) ? 2 : 1;
        }
        return slot;
    }

    /** Follows a variable that a lambda has captured, while the method that made it still runs. */
    private Cursor followCaptured(Cursor at, int parameter, String name, RecordedFrame caller) {
        Method method = at.method();
        String[] words = method.name().split("\\$");
        String maker = words.length == 3 && words[0].equals("lambda")
                ? words[1].replace("new", "<init>") : "";
        for (int index = at.index() + 1; index < at.moment().frames().size(); index++) {
            RecordedFrame frame = at.moment().frames().get(index);
            boolean isMaker = frame.method().name().equals(maker)
                    && frame.method().declaringType().equals(method.declaringType());
            if (!isMaker) {
                continue;
            }
            int shift = method.isStatic() ? 0 : 1;  // what is captured first is `this` then
            List<ValueNode.Call> made = StackAnalysis.of(frame.method()).lambdas().stream()
                    .filter(one -> parameter + shift >= 0
                            && parameter + shift < one.arguments.size()).toList();
            if (made.size() == 1 && parameter >= 0) {
                report.add("passed", name + " captured by the lambda", at.moment(), index);
                report.markInferred();
                return new Cursor(made.get(0).arguments.get(parameter + shift), at.moment(), index,
                        at.value());
            }
        }
        StreamedItems.Source source = StreamedItems.find(this, at);
        if (source != null) {
            return containers.followStreamed(at, name, source);
        }
        return report.end("not followed", name + " comes from "
                + Names.function(caller.method()) + " of " + (caller.isOwn() ? "the program"
                : "the library") + own(at));
    }

    private String own(Cursor at) {
        for (int index = at.index() + 1; index < at.moment().frames().size(); index++) {
            if (at.moment().frames().get(index).isOwn()) {
                return ", called at " + report.place(at.moment().frames().get(index));
            }
        }
        return "";
    }

    // -- exceptions --------------------------------------------------------------------------------

    /** Follows a caught exception to where it was thrown, and to what it was thrown for. */
    private Cursor followCaught(Cursor at) {
        if (at.value() == null || !(at.value().value() instanceof ObjectReference thrown)) {
            return report.end("not followed", "the exception that was caught is not known");
        }
        if (mustAskThrow(thrown)) {
            plan.supposeThrown(thrown);
            return report.pause("where the exception was thrown is seen by a further run");
        }
        Moment first = findThrow(thrown, at.moment());
        return first != null ? followThrown(first, thrown)
                : endUnseen("no throw of the exception was recorded");
    }

    /** Tells whether a further run is to record where an exception was thrown, and asks for it. */
    boolean mustAskThrow(ObjectReference thrown) {
        return plan.mustAsk(ValueRecorder.thrownKey(thrown.referenceType()));
    }

    /** Returns the first throw of an exception that was recorded before a moment; or null. */
    Moment findThrow(ObjectReference thrown, Moment before) {
        if (recorder == null) {
            return null;
        }
        // Thrown again, as by a finally, it was thrown for the same.
        Moment first = null;
        String key = ValueRecorder.thrownKey(thrown.referenceType());
        for (Moment one : recorder.before(key, before.number())) {
            first = thrown.equals(one.object()) ? one : first;
        }
        return first;
    }

    private Cursor followThrown(Moment moment, ObjectReference thrown) {
        String type = Names.shorten(thrown.referenceType().name());
        int own = moment.firstOwn();
        if (own < 0) {
            return report.end("not followed", "the library threw the " + type);
        }
        FailedCode.Culprit culprit = new FailedCode(thrown, moment, own).findCulprit();
        if (culprit == null) {
            report.add("other", type + " thrown", moment, own);
            return report.end("not followed", "the value is not known that it was thrown for");
        }
        Cursor next = new Cursor(culprit.node(), moment, own, null);
        ValueReader.Known value = culprit.value() != null ? culprit.value()
                : read(culprit.node(), next);
        plan.suppose(next.method(), culprit.node());
        String about = CodeText.of(culprit.node(), next.method());
        String shown = report.text(value);
        report.add("other", type + " thrown for " + about + (shown == null ? "" : "=" + shown),
                moment, own);
        return new Cursor(culprit.node(), moment, own, value);
    }

    // -- fields and elements -----------------------------------------------------------------------

    private Cursor followField(Cursor at, ValueNode.FieldRead read) {
        String text = CodeText.of(read, at.method());
        ValueReader.Known owner = read.owner == null ? new ValueReader.Known(null)
                : read(read.owner, at);
        Field field = owner == null ? null : reader.findField(read, owner.value());
        if (field == null && containers.mustAskRemoved(at, read.owner)) {
            return report.pause("the object of " + text + " is seen by a further run");
        }
        if (field == null) {
            return report.end("not followed", "the object of " + text + " is not known at "
                    + report.place(at.frame()));
        }
        boolean isVariable = Values.isCaptured(field.declaringType().name());
        if (Names.isLibrary(field.declaringType().name()) && !isVariable) {
            return report.end("not followed", text + " is a field of the library");
        }
        if (plan.mustAsk(ValueRecorder.fieldKey(field))) {
            plan.supposeField(field);
            return report.pause("the writes of " + text + " are seen by a further run");
        }
        ObjectReference object = (ObjectReference) owner.value();
        List<Moment> writes = recorder.writesOf(field, object, at.moment().number());
        String name = isVariable ? CodeText.of(read.owner, at.method())
                : Names.shorten(field.declaringType().name()) + "." + field.name();
        if (writes.isEmpty()) {
            return endUnwritten(at, field, object, name);
        }
        Moment write = writes.get(0);
        boolean isOther = at.value() != null && !ValueReader.isSame(write.now(), at.value().value());
        if (isOther) {
            return endUnseen("the last recorded write of " + name + " gave "
                    + report.text(new ValueReader.Known(write.now())) + ": a later one was not seen");
        }
        int own = Math.max(0, write.firstOwn());
        report.add("written", name + " written", write, own).put("old",
                report.text(new ValueReader.Known(write.old())));
        report.last().put("new", report.text(new ValueReader.Known(write.now())));
        StackAnalysis analysis = own == 0 ? StackAnalysis.of(write.frames().get(0).method()) : null;
        StackAnalysis.Write made = analysis == null ? null
                : analysis.writeAt(write.frames().get(0).code());
        return made == null ? report.end("not followed", "the library wrote it")
                : new Cursor(made.value(), write, 0, new ValueReader.Known(write.now()));
    }

    private Cursor endUnwritten(Cursor at, Field field, ObjectReference object, String name) {
        boolean isDefault = at.value() == null || isDefault(at.value().value());
        if (recorder.isCut() || !isDefault) {
            return endUnseen("no write of " + name + " was seen"
                    + (isDefault ? "" : ": by reflection or by the JVM itself"));
        }
        String key = "made " + field.declaringType().name();
        if (object != null && plan.mustAsk(key)) {
            return report.pause("where the object was made is seen by a further run");
        }
        boolean isMade = false;
        for (Moment one : object == null ? List.<Moment>of()
                : recorder.before(key, at.moment().number())) {
            int maker = makerOf(one);
            isMade = isMade || object.equals(one.object());
            if (object.equals(one.object()) && maker > 0) {
                report.add("allocated", "new " + Names.shorten(object.referenceType().name())
                        + ": its constructor leaves " + field.name() + " as it is", one, maker);
                break;
            }
        }
        if (object != null && !isMade && isMadeByCopy(object.referenceType())) {
            return endUnseen("no constructor made this object: clone() or deserialisation gave "
                    + name + " its value");
        }
        return report.end("uninitialised", name + (object == null ? "" : " of this object")
                + " was never written before: it has its default value");
    }

    /** Returns whether objects of a class may come to be without a constructor of it. */
    private static boolean isMadeByCopy(ReferenceType type) {
        return type instanceof ClassType && ((ClassType) type).allInterfaces().stream()
                .anyMatch(one -> one.name().equals("java.lang.Cloneable")
                        || one.name().equals("java.io.Serializable"));
    }

    /** Returns the index of the frame that made an object: behind its constructors. */
    private static int makerOf(Moment moment) {
        for (int index = 1; index < moment.frames().size(); index++) {
            RecordedFrame frame = moment.frames().get(index);
            boolean isConstructor = frame.method().isConstructor()
                    && moment.object() != null && moment.object().equals(frame.self());
            if (!isConstructor) {
                return frame.isOwn() ? index : -1;
            }
        }
        return -1;
    }

    private static boolean isDefault(Object value) {
        Object plain = Arithmetic.toJava(value);
        return value == null || (value instanceof PrimitiveValue
                && (plain instanceof Number number && number.doubleValue() == 0
                || plain instanceof Boolean truth && !truth
                || plain instanceof Character letter && letter == 0));
    }

    private Cursor followElement(Cursor at, ValueNode.Element element) {
        ValueReader.Known array = read(element.array, at);
        ValueReader.Known index = read(element.index, at);
        if (array == null && containers.mustAskRemoved(at, element.array)) {
            return report.pause("the array of " + CodeText.of(element, at.method())
                    + " is seen by a further run");
        }
        if (array == null || !(array.value() instanceof ArrayReference items)) {
            return report.end("not followed", "the array of " + CodeText.of(element, at.method())
                    + " is not known at " + report.place(at.frame()));
        }
        Integer number = index != null && Arithmetic.toJava(index.value()) instanceof Number plain
                ? Integer.valueOf(plain.intValue()) : findIndex(items, at.value());
        if (number == null) {
            return report.end("not followed", "which element of "
                    + CodeText.of(resolve(element.array, at.method()), at.method())
                    + " it is, is not known");
        }
        String key = "elements " + RecordPlan.storeOpcode(items);
        if (plan.mustAsk(key)) {
            plan.suppose(at.method(), resolve(element.array, at.method()));
            return report.pause("the writes of the element are seen by a further run");
        }
        ValueNode name = resolve(element.array, at.method());
        String text = CodeText.of(name, at.method()) + "[" + number + "]";
        for (Moment one : recorder.before(key, at.moment().number())) {
            StackAnalysis.Write write = StackAnalysis.of(one.frames().get(0).method())
                    .writeAt(one.frames().get(0).code());
            ValueReader.Known owner = one.known().get(write.owner());
            ValueReader.Known place = one.known().get(write.index());
            if (owner == null && !(write.owner() instanceof ValueNode.Created)
                    || owner != null && items.equals(owner.value()) && place == null) {
                return report.end("not followed", text + " may have been written at "
                        + report.place(one.frames().get(0)) + ": which element that was is not known");
            }
            if (owner != null && items.equals(owner.value())
                    && Integer.valueOf(number).equals(Arithmetic.toJava(place.value()))) {
                report.add("written", text + " written", one, 0).put("new", report.text(at.value()));
                return new Cursor(write.value(), one, 0, at.value());
            }
        }
        if (recorder.isCut()) {
            return endUnseen("no write of " + text + " was recorded");
        }
        return followArray(at, name, items, number);
    }

    private static Integer findIndex(ArrayReference items, ValueReader.Known value) {
        if (value == null || !(value.value() instanceof ObjectReference)) {
            return null;
        }
        int found = -1;
        List<Value> all = items.length() > 10_000 ? List.of() : items.getValues();
        for (int index = 0; index < all.size(); index++) {
            if (value.value().equals(all.get(index))) {
                if (found >= 0) {
                    return null;
                }
                found = index;
            }
        }
        return found < 0 ? null : found;
    }

    /** Follows an array of which no write of the element was seen to where it was made. */
    private Cursor followArray(Cursor at, ValueNode array, ArrayReference items, int number) {
        report.add("loaded", "element " + number + " of " + CodeText.of(array, at.method())
                + ", which no statement was seen to write later", at.moment(), at.index())
                .put("new", report.text(at.value()));
        Cursor next = new Cursor(array, at.moment(), at.index(), new ValueReader.Known(items));
        for (int step = 0; next != null && step < STEPS_MAX; step++) {
            if (next.node() instanceof ValueNode.Created made) {
                return followInitializer(next, made, number, at.value());
            }
            next = next(next);
        }
        return next;
    }

    private Cursor followInitializer(
            Cursor at, ValueNode.Created made, int number, ValueReader.Known value) {
        for (StackAnalysis.Write one : StackAnalysis.of(at.method()).writes()) {
            boolean isIt = one.kind().equals("element") && one.owner() == made
                    && one.index() instanceof ValueNode.Constant index
                    && Integer.valueOf(number).equals(index.value);
            if (isIt) {
                return new Cursor(one.value(), at.moment(), at.index(), value);
            }
        }
        return report.end("allocation", "a new array at " + report.place(at.frame())
                + ": the element has its default value");
    }

    // -- calls -------------------------------------------------------------------------------------

    private Cursor followCall(Cursor at, ValueNode.Call call) {
        ValueReader.Known receiver = call.receiver == null ? null : read(call.receiver, at);
        ObjectReference object = receiver != null && receiver.value() instanceof ObjectReference one
                ? one : null;
        ValueNode.FieldRead accessor = object == null ? null
                : ValueReader.findAccessor(object.referenceType(), call.method);
        if (accessor != null) {
            ValueNode.FieldRead same =
                    new ValueNode.FieldRead(call.receiver, accessor.type, accessor.name);
            return at.to(same);
        }
        if (Names.isLibrary(call.method.type())
                && (object == null || Names.isLibrary(object.referenceType().name()))) {
            return containers.followLibrary(at, call, object);
        }
        if (call.code < 0) {
            return report.end("not followed", "the question itself calls " + call.method.name()
                    + ": ask for what it reads");
        }
        List<Method> targets = plan.findTargets(call, object);
        String name = call.method.name();
        boolean mustAsk = false;
        for (Method one : targets) {
            mustAsk |= plan.mustAsk(ValueRecorder.methodKey("returns", one));
            plan.supposeReturns(one);
        }
        if (targets.isEmpty()) {
            return report.end("not followed", name + " is not code of a loaded class");
        }
        if (mustAsk) {
            return report.pause("the returns of " + name + " are seen by a further run");
        }
        Moment found = null;
        for (Method one : targets) {
            for (Moment seen : recorder.before(
                    ValueRecorder.methodKey("returns", one), at.moment().number())) {
                boolean isIt = isReturnTo(seen, at, call)
                        && (found == null || seen.number() > found.number());
                found = isIt ? seen : found;
            }
        }
        if (found == null) {
            return endUnseen("no return of " + name + " to " + report.place(at.frame())
                    + " was recorded");
        }
        StackAnalysis.Write write = StackAnalysis.of(found.frames().get(0).method())
                .writeAt(found.frames().get(0).code());
        report.add("returned", Names.function(found.frames().get(0).method()) + " returned it",
                found, 0).put("new", report.text(at.value()));
        return new Cursor(write.value(), found, 0, at.value());
    }

    private static boolean isReturnTo(Moment seen, Cursor at, ValueNode.Call call) {
        int depth = at.moment().depthOf(at.index());
        int caller = seen.depth() - depth;  // 2 behind a bridge
        return seen.thread().equals(at.moment().thread()) && caller >= 1 && caller <= 2
                && caller < seen.frames().size()
                && (caller == 1 || seen.frames().get(1).method().isBridge())
                && seen.frames().get(caller).method().equals(at.method())
                && seen.frames().get(caller).code() == call.code;
    }

    // -- operators ---------------------------------------------------------------------------------

    private Cursor followOperation(Cursor at, ValueNode.Operation operation) {
        ValueNode first = operation.operands.isEmpty() ? null : operation.operands.get(0);
        boolean isSame = operation.operator.equals("(box)") || operation.operator.equals("(unbox)");
        if (operation.operator.equals("(cast)")) {
            ValueReader.Known before = read(first, at);
            isSame = before == null || at.value() == null || isEqualNumber(before, at.value());
        }
        if (isSame) {
            return at.to(first);
        }
        String overflow = OverflowText.explain(operation, read(first, at),
                operation.operands.size() == 2 ? read(operation.operands.get(1), at) : null);
        Cursor next = followOperands(at, operation, List.of(operation));
        return overflow == null ? next : report.end("not followed", overflow);
    }

    private static boolean isEqualNumber(ValueReader.Known one, ValueReader.Known other) {
        Object first = Arithmetic.toJava(one.value());
        Object second = Arithmetic.toJava(other.value());
        return first instanceof Number left && second instanceof Number right
                ? left.doubleValue() == right.doubleValue() : ValueReader.isSame(one, other);
    }

    private Cursor followChoice(Cursor at, ValueNode.Choice choice) {
        List<ValueNode> fitting = choice.alternatives.stream().filter(one -> {
            ValueReader.Known boxed = one instanceof ValueNode.Operation unboxed
                    && unboxed.operator.equals("(unbox)") ? read(unboxed.operands.get(0), at) : null;
            boolean isOfNull = boxed != null && boxed.value() == null;
            ValueReader.Known known = read(one, at);
            return !isOfNull && (at.value() == null || known == null
                    || ValueReader.isSame(known.value(), at.value().value()));
        }).toList();
        boolean isTruth = choice.alternatives.stream()
                .allMatch(one -> one instanceof ValueNode.Constant) && !choice.conditions.isEmpty();
        boolean isLiteral = fitting.size() == 1 && fitting.get(0) instanceof ValueNode.Constant
                && !choice.conditions.isEmpty();
        if (isTruth || isLiteral) {
            // What was compared says more than the literal.
            return followOperands(at, choice, choice.conditions);
        }
        if (fitting.size() == 1) {
            return at.to(fitting.get(0));
        }
        return report.end("not followed", "a condition at " + report.place(at.frame())
                + " chose it among " + choice.alternatives.size());
    }

    /** Follows the one operand of a computed value that explains it, or ends with all of them. */
    Cursor followOperands(Cursor at, ValueNode computed, List<ValueNode> roots) {
        List<ValueNode> leaves = new ArrayList<>();
        roots.forEach(one -> addLeaves(one, leaves));
        List<ValueNode> guilty = leaves.stream().filter(one -> {
            ValueReader.Known known = read(one, at);
            return known != null && isGuilty(known.value());
        }).toList();
        // Where an object was made says nothing of what is computed with it, as of a lambda.
        List<ValueNode> candidates = !guilty.isEmpty() ? guilty : leaves.stream()
                .filter(one -> !(one instanceof ValueNode.Created)).toList();
        ValueNode chosen = candidates.size() == 1 ? candidates.get(0) : null;
        report.addOperands(at, computed, leaves, chosen, one -> read(one, at));
        if (areTwins(leaves, at)) {
            report.addDetail("the two are equal, and two objects: == compares objects");
        }
        if (chosen == null) {
            String again = leaves.isEmpty() ? "" : ": none of its operands stands out";
            return report.end("not followed",
                    CodeText.of(computed, at.method()) + " at " + report.place(at.frame()) + again);
        }
        return new Cursor(chosen, at.moment(), at.index(), read(chosen, at));
    }

    /** Tells whether two objects are compared that are equal texts or numbers, and not one. */
    private boolean areTwins(List<ValueNode> leaves, Cursor at) {
        if (leaves.size() != 2 || !(at.node() instanceof ValueNode.Choice)) {
            return false;
        }
        ValueReader.Known one = read(leaves.get(0), at);
        ValueReader.Known other = read(leaves.get(1), at);
        return one != null && other != null && one.value() instanceof ObjectReference first
                && other.value() instanceof ObjectReference second && !first.equals(second)
                && ValueReader.isSame(first, second);
    }

    private static boolean isGuilty(Object value) {
        return value == null || Arithmetic.toJava(value) instanceof Double number && number.isNaN();
    }

    private void addLeaves(ValueNode node, List<ValueNode> leaves) {
        if (node instanceof ValueNode.Operation) {
            node.parts().forEach(one -> addLeaves(one, leaves));
        } else if (!(node instanceof ValueNode.Constant) && !(node instanceof ValueNode.Unknown)
                && leaves.size() < 6) {
            leaves.add(node);
        }
    }
}
