package debugger.counting;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Writes a class anew, with other code in its methods (JVMS 4).
 *
 * Nothing else of it changes: it has no new fields or methods that its program could see.
 */
abstract class ClassRewriter {
    ConstantTable constants;
    private final DataInputStream in;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final DataOutputStream out = new DataOutputStream(bytes);

    ClassRewriter(byte[] file) {
        this.in = new DataInputStream(new ByteArrayInputStream(file));
    }

    /** Adds the methods that the code is to call to the constants. */
    abstract void addMethods() throws IOException;

    /** Reads an attribute of the class; before the code of its methods. */
    abstract void readOrigin(RawAttribute one);

    /** Returns the code of a method, changed or as it is. */
    abstract byte[] rewriteCode(RawMethod method, byte[] content) throws IOException;

    /** Returns the class as it was rewritten; null where its constants leave no room. */
    final byte[] rewriteClass() throws IOException {
        out.writeLong(in.readLong());  // the magic number and the version
        constants = new ConstantTable(in, UnaryOperator.identity());
        addMethods();
        if (!constants.hasRoom()) {
            return null;
        }
        constants.write(out);
        copy(6);  // access flags, itself, superclass
        copy(2 * copyShort());  // interfaces
        int fields = copyShort();
        for (int field = 0; field < fields; field++) {
            copy(6);
            RawAttribute.writeAll(RawAttribute.readAll(in), out);
        }
        List<RawMethod> methods = new ArrayList<>();
        for (int left = in.readUnsignedShort(); left > 0; left--) {
            methods.add(new RawMethod(in));
        }
        // They say which source the lines of the methods are of.
        List<RawAttribute> attributes = RawAttribute.readAll(in);
        attributes.forEach(this::readOrigin);
        out.writeShort(methods.size());
        for (RawMethod method : methods) {
            rewriteMethod(method);
        }
        RawAttribute.writeAll(attributes, out);
        return bytes.toByteArray();
    }

    private void copy(int size) throws IOException {
        out.write(in.readNBytes(size));
    }

    private int copyShort() throws IOException {
        int number = in.readUnsignedShort();
        out.writeShort(number);
        return number;
    }

    private void rewriteMethod(RawMethod method) throws IOException {
        List<RawAttribute> written = new ArrayList<>();
        for (RawAttribute one : method.attributes) {
            boolean isCode = constants.text(one.name).equals("Code");
            written.add(isCode ? new RawAttribute(one.name, rewriteCode(method, one.content)) : one);
        }
        out.writeShort(method.flags);
        out.writeShort(method.name);
        out.writeShort(method.descriptor);
        RawAttribute.writeAll(written, out);
    }
}
