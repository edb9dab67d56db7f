package debugger.jdi;

import com.sun.jdi.Location;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.ThreadStartEvent;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The code of libraries that catches what nobody else does, and reports it as the JVM would.
 *
 * For the JVM such an exception is a caught one, and a request for all caught ones costs about 0.2 ms
 * for each. So it is made only once such code may run: when a class of it is prepared, or the first
 * virtual thread starts, whose `run` catches alike (JDK 21 to 25).
 */
final class LastCatchers {
    private static final String VIRTUAL = "java.lang.VirtualThread";
    /** The methods by their classes; Groovy's runs a script, AWT's the handlers of events. */
    private static final Map<String, String> CATCHERS = Map.of(
            VIRTUAL, "run",
            "groovy.ui.GroovyMain", "run",
            "java.awt.EventDispatchThread", "pumpOneEventForFilters");

    private final VirtualMachine vm;
    private final List<EventRequest> requests = new ArrayList<>();  // none once such code may run
    private boolean mayRun;

    LastCatchers(VirtualMachine vm) {
        this.vm = vm;
    }

    /** Asks for what shows that such code will run; its threads wait until that was handled. */
    void begin() {
        if (mayRun || !requests.isEmpty()) {
            return;
        }
        for (String name : CATCHERS.keySet()) {
            if (vm.classesByName(name).stream().anyMatch(ReferenceType::isPrepared)) {
                noteLoaded(name);
            } else {
                ClassPrepareRequest prepared = vm.eventRequestManager().createClassPrepareRequest();
                prepared.addClassFilter(name);
                enable(prepared);
            }
        }
    }

    private void noteLoaded(String name) {
        // A JVM may have loaded the class of virtual threads for itself (JDK 21).
        if (name.equals(VIRTUAL)) {
            enable(vm.eventRequestManager().createThreadStartRequest());
        } else {
            mayRun = true;
        }
    }

    private void enable(EventRequest request) {
        request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        request.enable();
        requests.add(request);
    }

    private static boolean isVirtual(ThreadReference thread) {
        return thread.referenceType().name().equals(VIRTUAL);
    }

    boolean mayRun() {
        return mayRun;
    }

    /** Takes note of an event; true where it shows first that such code will run. */
    boolean note(Event event) {
        boolean isFirst = !mayRun && (event instanceof ThreadStartEvent started
                ? isVirtual(started.thread())
                : event instanceof ClassPrepareEvent prepared
                && CATCHERS.containsKey(prepared.referenceType().name()));
        if (isFirst) {
            mayRun = true;
            vm.eventRequestManager().deleteEventRequests(requests);
            requests.clear();
        }
        return isFirst;
    }

    /** Tells whether an exception that is caught there is an uncaught one for the program. */
    static boolean isLast(Location caught) {
        return caught.method().name().equals(CATCHERS.get(caught.declaringType().name()));
    }
}
