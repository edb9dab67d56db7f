package debugger.jdi;

import com.sun.jdi.ObjectReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.event.EventSet;

/**
 * A stop of the whole program.
 *
 * `set` holds the events that stopped all threads; null where we suspended them ourselves. `thrown`
 * is the exception of the stop.
 */
record Stop(ThreadReference thread, EventSet set, ObjectReference thrown) {}
