package debugger.jdi;

import com.sun.jdi.Field;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.Value;

/** A field of an object, or a static one where the owner is null. */
record FieldPosition(ObjectReference owner, Field field) {
    FieldPosition {
        owner = field.isStatic() ? null : owner;
    }

    Value read() {
        return owner != null ? owner.getValue(field) : field.declaringType().getValue(field);
    }
}
