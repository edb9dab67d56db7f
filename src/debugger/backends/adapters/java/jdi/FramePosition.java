package debugger.jdi;

import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;

/**
 * A frame by its thread and depth.
 *
 * The frame itself is read anew for each use: a call in its thread makes it invalid.
 */
record FramePosition(ThreadReference thread, int depth) {
    StackFrame frame() throws DebuggerException {
        try {
            return thread.frame(depth);
        } catch (IncompatibleThreadStateException running) {
            throw new DebuggerException("the thread is running");
        } catch (IndexOutOfBoundsException gone) {
            throw new DebuggerException("the thread has no such frame");
        }
    }
}
