package debugger.counting;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** An attribute as a class file has it (JVMS 4.7); `name` is the number of a constant. */
final class RawAttribute {
    final int name;
    final byte[] content;

    RawAttribute(int name, byte[] content) {
        this.name = name;
        this.content = content;
    }

    static List<RawAttribute> readAll(DataInputStream in) throws IOException {
        List<RawAttribute> found = new ArrayList<>();
        for (int left = in.readUnsignedShort(); left > 0; left--) {
            int name = in.readUnsignedShort();
            found.add(new RawAttribute(name, in.readNBytes(in.readInt())));
        }
        return found;
    }

    static void writeAll(List<RawAttribute> attributes, DataOutputStream out) throws IOException {
        out.writeShort(attributes.size());
        for (RawAttribute one : attributes) {
            out.writeShort(one.name);
            out.writeInt(one.content.length);
            out.write(one.content);
        }
    }
}
