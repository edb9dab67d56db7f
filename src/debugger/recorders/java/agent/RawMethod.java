package debugger.counting;

import java.io.DataInputStream;
import java.io.IOException;
import java.util.List;

/** A method as a class file has it (JVMS 4.6). */
final class RawMethod {
    final int flags;
    final int name;
    final int descriptor;
    final List<RawAttribute> attributes;

    RawMethod(DataInputStream in) throws IOException {
        flags = in.readUnsignedShort();
        name = in.readUnsignedShort();
        descriptor = in.readUnsignedShort();
        attributes = RawAttribute.readAll(in);
    }
}
