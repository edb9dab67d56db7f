package debugger.jdi;

import com.sun.jdi.ClassType;
import com.sun.jdi.Field;
import com.sun.jdi.InterfaceType;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Writes a loaded class as a class file for the compiler: its members without code (JVMS 4).
 *
 * All members are public, so that javac lets an expression use what the frame's class may use; the JVM
 * checks the access itself.
 */
final class ClassStub {
    private static final int MAGIC = 0xCAFEBABE;
    private static final int VERSION = 55;  // of Java 11, which every compiler of ours reads
    private static final int PUBLIC = 0x0001;
    private static final int STATIC = 0x0008;
    private static final int SUPER = 0x0020;
    private static final int INTERFACE = 0x0200;
    private static final int SYNTHETIC = 0x1000;
    // final, interface, abstract, annotation, enum; static of a class within another
    private static final int CLASS_FLAGS = 0x0010 | INTERFACE | 0x0400 | 0x2000 | 0x4000;
    // static, final, bridge or volatile, varargs, abstract, synthetic, enum
    private static final int MEMBER_FLAGS =
            STATIC | 0x0010 | 0x0040 | 0x0080 | 0x0400 | SYNTHETIC | 0x4000;
    private static final int UTF8 = 1;
    private static final int CLASS = 7;

    /** A class within another, with its flags. */
    private record Nested(String name, int flags) {}

    private final ByteArrayOutputStream constants = new ByteArrayOutputStream();
    private final Map<String, Integer> numbers = new LinkedHashMap<>();

    private ClassStub() {}

    /** Writes a class; the loaded ones, and names of others, tell which are nested in it. */
    static byte[] write(ReferenceType type, TreeMap<String, ReferenceType> loaded,
            TreeSet<String> others) throws IOException {
        return new ClassStub().writeClass(type, listNested(type, loaded, others));
    }

    /** Tells whether a class has a name in source text: no local, anonymous or hidden class. */
    static boolean hasSourceName(String name) {
        for (int at = name.indexOf('$'); at >= 0; at = name.indexOf('$', at + 1)) {
            boolean isOuter = at > 0 && name.charAt(at - 1) != '.' && at + 1 < name.length()
                    && Character.isJavaIdentifierStart(name.charAt(at + 1))
                    && name.charAt(at + 1) != '$';
            if (!isOuter) {
                return false;
            }
        }
        return name.indexOf('/') < 0;
    }

    private byte[] writeClass(ReferenceType type, List<Nested> nested) throws IOException {
        boolean isInterface = type instanceof InterfaceType;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream body = new DataOutputStream(bytes);
        body.writeShort(PUBLIC | (type.modifiers() & CLASS_FLAGS) | (isInterface ? 0 : SUPER));
        body.writeShort(classNumber(type.name()));
        ClassType above = type instanceof ClassType itself ? itself.superclass() : null;
        body.writeShort(classNumber(above == null ? "java.lang.Object" : above.name()));
        List<InterfaceType> faces = isInterface ? ((InterfaceType) type).superinterfaces()
                : ((ClassType) type).interfaces();
        body.writeShort(faces.size());
        for (InterfaceType face : faces) {
            body.writeShort(classNumber(face.name()));
        }
        writeFields(body, type.fields());
        writeMethods(body, type.methods());
        body.writeShort((type.genericSignature() == null ? 0 : 1) + (nested.isEmpty() ? 0 : 1));
        writeSignature(body, type.genericSignature());
        writeNested(body, nested);
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        DataOutputStream file = new DataOutputStream(whole);
        file.writeInt(MAGIC);
        file.writeInt(VERSION);  // the minor version, 0, is the first half
        file.writeShort(numbers.size() + 1);
        constants.writeTo(file);
        bytes.writeTo(file);
        return whole.toByteArray();
    }

    private void writeFields(DataOutputStream body, List<Field> fields) throws IOException {
        body.writeShort(fields.size());
        for (Field field : fields) {
            // What captures (`this$0`, `val$x`) is synthetic, and an expression needs it.
            body.writeShort(PUBLIC | (field.modifiers() & MEMBER_FLAGS & ~SYNTHETIC));
            writeMember(body, field.name(), field.signature(), field.genericSignature());
        }
    }

    private void writeMethods(DataOutputStream body, List<Method> all) throws IOException {
        List<Method> methods = new ArrayList<>(all);
        methods.removeIf(Method::isStaticInitializer);
        body.writeShort(methods.size());
        for (Method method : methods) {
            body.writeShort(PUBLIC | (method.modifiers() & MEMBER_FLAGS));
            writeMember(body, method.name(), method.signature(), method.genericSignature());
        }
    }

    private void writeMember(DataOutputStream body, String name, String signature, String generic)
            throws IOException {
        body.writeShort(textNumber(name));
        body.writeShort(textNumber(signature));
        body.writeShort(generic == null ? 0 : 1);
        writeSignature(body, generic);
    }

    private void writeSignature(DataOutputStream body, String generic) throws IOException {
        if (generic != null) {
            body.writeShort(textNumber("Signature"));
            body.writeInt(2);
            body.writeShort(textNumber(generic));
        }
    }

    /** Returns the classes of the attribute InnerClasses: those around this one, itself, its own. */
    private static List<Nested> listNested(ReferenceType type,
            TreeMap<String, ReferenceType> loaded, TreeSet<String> others) {
        List<Nested> found = new ArrayList<>();
        String name = type.name();
        if (!hasSourceName(name)) {
            return found;
        }
        for (int at = name.indexOf('$'); at >= 0; at = name.indexOf('$', at + 1)) {
            int end = name.indexOf('$', at + 1);
            found.add(nested(end < 0 ? name : name.substring(0, end), loaded));
        }
        TreeSet<String> inner = new TreeSet<>(loaded.subMap(name + "$", name + "%").keySet());
        inner.addAll(others.subSet(name + "$", name + "%"));
        for (String one : inner) {
            if (one.indexOf('$', name.length() + 1) < 0 && hasSourceName(one)) {
                found.add(nested(one, loaded));
            }
        }
        return found;
    }

    private static Nested nested(String name, TreeMap<String, ReferenceType> loaded) {
        ReferenceType type = loaded.get(name);
        // Of one that is not loaded its own class file has the flags.
        return new Nested(name, PUBLIC
                | (type == null ? STATIC : type.modifiers() & (CLASS_FLAGS | STATIC)));
    }

    private void writeNested(DataOutputStream body, List<Nested> nested) throws IOException {
        if (nested.isEmpty()) {
            return;
        }
        body.writeShort(textNumber("InnerClasses"));
        body.writeInt(2 + nested.size() * 8);
        body.writeShort(nested.size());
        for (Nested one : nested) {
            int end = one.name().lastIndexOf('$');
            body.writeShort(classNumber(one.name()));
            body.writeShort(classNumber(one.name().substring(0, end)));
            body.writeShort(textNumber(one.name().substring(end + 1)));
            body.writeShort(one.flags());
        }
    }

    private int classNumber(String name) throws IOException {
        int text = textNumber(name.replace('.', '/'));
        return number("class " + name, CLASS, out -> out.writeShort(text));
    }

    private int textNumber(String text) throws IOException {
        return number("text " + text, UTF8, out -> out.writeUTF(text));
    }

    private interface Writer {
        void write(DataOutputStream out) throws IOException;
    }

    private int number(String key, int tag, Writer writer) throws IOException {
        Integer known = numbers.get(key);
        if (known != null) {
            return known;
        }
        DataOutputStream out = new DataOutputStream(constants);
        out.writeByte(tag);
        writer.write(out);
        numbers.put(key, numbers.size() + 1);
        return numbers.size();
    }
}
