package debugger.jdi;

import com.sun.jdi.Field;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * A moment of a thread: a recorded event, or the stop.
 *
 * `key` names what is recorded; `known` has the values that the event's instruction reads; a
 * container's change has the arguments of its call.
 */
record Moment(int number, String key, ThreadReference thread, String threadName, int depth,
        List<RecordedFrame> frames, Field field, ObjectReference object, Value old, Value now,
        List<Value> arguments, Map<ValueNode, ValueReader.Known> known) {
    private static final int FRAMES_MAX = 40;

    /** Reads the frames of a suspended thread, `deep` own ones of them with their variables. */
    static List<RecordedFrame> readFrames(ThreadReference thread, int depth, int deep)
            throws IncompatibleThreadStateException {
        List<RecordedFrame> found = new ArrayList<>();
        int own = 0;
        for (StackFrame frame : thread.frames(0, Math.min(FRAMES_MAX, depth))) {
            boolean isOwn = RecordedFrame.isOwn(frame.location());
            found.add(RecordedFrame.read(frame, isOwn && own < deep));
            own += isOwn ? 1 : 0;
        }
        return found;
    }

    /** Reads the stop of a thread. */
    static Moment ofStop(ThreadReference thread) throws DebuggerException {
        try {
            int depth = thread.frameCount();
            return new Moment(Integer.MAX_VALUE, "stop", thread, thread.name(), depth,
                    readFrames(thread, depth, FRAMES_MAX), null, null, null, null, List.of(),
                    new IdentityHashMap<>());
        } catch (IncompatibleThreadStateException running) {
            throw new DebuggerException("the thread is running");
        }
    }

    /** Returns the depth of a frame, counted from the thread's first one. */
    int depthOf(int index) {
        return depth - index;
    }

    /** Returns the index of the innermost own frame; -1 without one. */
    int firstOwn() {
        for (int index = 0; index < frames.size(); index++) {
            if (frames.get(index).isOwn()) {
                return index;
            }
        }
        return -1;
    }

    boolean isStop() {
        return number == Integer.MAX_VALUE;
    }
}
