package debugger.jdi;

import com.sun.jdi.ObjectReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.event.EventSet;

/**
 * A stop of the whole program.
 *
 * `set` holds the events that caused it; null for a pause. `isSuspended`: all threads were suspended
 * besides, since the events had suspended only their own. `thrown` is the exception of the stop.
 */
record Stop(ThreadReference thread, EventSet set, boolean isSuspended, ObjectReference thrown) {}
