package debugger.jdi;

import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.event.MethodExitEvent;
import com.sun.jdi.event.StepEvent;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.MethodExitRequest;
import com.sun.jdi.request.StepRequest;

/** The step that a client has begun, and what the function returned that it left. */
final class Steps {
    private static final int EXITS_MAX = 2000;

    private final VirtualMachine vm;
    private final ReturnLines returnLines = new ReturnLines();
    private StepRequest request;
    private MethodExitRequest exits;
    private Method left;
    private int depth;
    private int exitCount;
    private Value returned;
    private ThreadReference returnedIn;

    Steps(VirtualMachine vm) {
        this.vm = vm;
    }

    /** Prepares a step; `depth` is StepRequest's STEP_INTO, STEP_OVER or STEP_OUT. */
    synchronized void begin(ThreadReference thread, int how) {
        forget();
        // The JVM refuses a second step of a thread, as that of a watchpoint (see Breakpoints).
        vm.eventRequestManager().stepRequests().stream()
                .filter(other -> other.thread().equals(thread)).toList()
                .forEach(vm.eventRequestManager()::deleteEventRequest);
        request = vm.eventRequestManager().createStepRequest(thread, StepRequest.STEP_LINE, how);
        if (how == StepRequest.STEP_INTO) {
            // What a library calls back is stepped into all the same.
            Names.libraryPatterns().forEach(request::addClassExclusionFilter);
        }
        if (how != StepRequest.STEP_INTO) {
            watchReturn(thread, how);
        }
        request.setSuspendPolicy(EventRequest.SUSPEND_ALL);
        request.enable();
    }

    /** Watches for the return of the innermost function, where the step may leave it. */
    private void watchReturn(ThreadReference thread, int how) {
        exitCount = 0;
        try {
            Location location = thread.frame(0).location();
            if (how == StepRequest.STEP_OVER && !returnLines.canReturn(location)) {
                return;
            }
            left = location.method();
            depth = thread.frameCount();
        } catch (IncompatibleThreadStateException | IndexOutOfBoundsException running) {
            return;
        }
        exits = vm.eventRequestManager().createMethodExitRequest();
        exits.addThreadFilter(thread);
        exits.addClassFilter(left.declaringType());
        exits.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        exits.enable();
    }

    /** Notes a return of the function that is stepped out of. */
    synchronized void noteReturn(MethodExitEvent event) {
        if (++exitCount > EXITS_MAX && exits != null) {
            // What the step passes returns too often: each of its returns costs a round trip.
            exits.disable();
        }
        try {
            boolean isIt = event.method().equals(left) && event.thread().frameCount() == depth;
            if (isIt && !left.returnTypeName().equals("void")) {
                returned = event.returnValue();
                returnedIn = event.thread();
            }
        } catch (IncompatibleThreadStateException running) {
            // The value stays unknown.
        }
    }

    synchronized boolean hasReturned(ThreadReference thread) {
        return thread.equals(returnedIn);
    }

    synchronized Value returned() {
        return returned;
    }

    synchronized boolean isEnd(StepEvent event) {
        return event.request().equals(request);
    }

    /** Forgets the last step and what it returned. */
    synchronized void forget() {
        cancel();
        returnedIn = null;
    }

    /** Ends the step, because the program has stopped. */
    synchronized void cancel() {
        try {
            if (request != null) {
                vm.eventRequestManager().deleteEventRequest(request);
            }
            if (exits != null) {
                vm.eventRequestManager().deleteEventRequest(exits);
            }
        } catch (VMDisconnectedException over) {
            // There is nothing left to cancel.
        }
        request = null;
        exits = null;
    }
}
