package debugger.jdi;

import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.ExceptionEvent;
import com.sun.jdi.event.LocatableEvent;
import com.sun.jdi.event.MethodExitEvent;
import com.sun.jdi.event.ModificationWatchpointEvent;
import com.sun.jdi.event.StepEvent;
import com.sun.jdi.event.VMDeathEvent;
import com.sun.jdi.event.VMDisconnectEvent;
import com.sun.jdi.event.VMStartEvent;
import com.sun.jdi.event.WatchpointEvent;
import com.sun.jdi.request.EventRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;

/**
 * The debugged program: its events, its stops, and how it is resumed.
 *
 * Two threads handle its events. The first reads them and handles at once what must not wait: loaded
 * classes, and what happens in a thread that runs a call of ours. All that may be a stop goes to the
 * second, which evaluates conditions; it waits while the program is stopped, and the threads of
 * waiting events stay suspended, so that no hit is lost.
 */
final class Target {
    private static final String RETURNED = "returned";  // java_adapter.py reads it

    private final Client client;
    private final VirtualMachine vm;
    private final Calls calls = new Calls();
    private final Sources sources;
    private final ClassNames classNames;
    private final ExpressionCompiler compiler;
    private final Values values = new Values(calls);
    private final Handles handles = new Handles();
    private final Threads threads;
    private final Breakpoints breakpoints;
    private final Steps steps;
    private final ChildJvms children;
    private final FieldHistory history;  // null where none was asked for
    private final ValueRecorder recorder;  // the same
    private final KeptChecks checks = new KeptChecks(this);
    private final BlockingQueue<EventSet> pending = new LinkedBlockingQueue<>();
    private final ProcessHandle starter;  // the build tool that started the JVM, or null
    // Guarded by this object's monitor, as all that follows.
    private Stop stop;
    private Stop located;  // the one that `thrownAt` is of
    private Location thrownAt;
    private EventSet startEvents;
    private boolean isConfigured;
    private boolean isOver;
    private Function<ThreadReference, Object> reader;  // of what a step's report shows, or null

    Target(Client client, VirtualMachine vm, Sources sources, Request request,
            ProcessHandle starter) {
        this.client = client;
        this.vm = vm;
        this.sources = sources;
        this.starter = starter;
        classNames = new ClassNames(vm, sources, calls);
        compiler = new ExpressionCompiler(vm, calls, sources, classNames);
        threads = new Threads(vm, client);
        breakpoints = new Breakpoints(this, client, request.isTrue("stopOnEntry"));
        steps = new Steps(vm);
        children = new ChildJvms(vm, client, request);
        children.begin();
        String recorded = request.text("history");
        history = recorded == null ? null : new FieldHistory(vm, sources, values, recorded);
        if (history != null) {
            history.begin();
        }
        List<String> keys = request.words("record");
        recorder = keys.isEmpty() ? null : new ValueRecorder(vm, keys);
        if (recorder != null) {
            recorder.begin();
        }
        start("events", this::readEvents);
        start("stops", this::handleEvents);
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    VirtualMachine vm() {
        return vm;
    }

    Calls calls() {
        return calls;
    }

    Sources sources() {
        return sources;
    }

    ClassNames classNames() {
        return classNames;
    }

    ExpressionCompiler compiler() {
        return compiler;
    }

    FieldHistory history() {
        return history;
    }

    ValueRecorder recorder() {
        return recorder;
    }

    KeptChecks checks() {
        return checks;
    }

    Values values() {
        return values;
    }

    Handles handles() {
        return handles;
    }

    Threads threads() {
        return threads;
    }

    Breakpoints breakpoints() {
        return breakpoints;
    }

    Steps steps() {
        return steps;
    }

    // -- events ------------------------------------------------------------------------------------

    private void readEvents() {
        try {
            while (true) {
                EventSet set = vm.eventQueue().remove();
                if (!handleAtOnce(set)) {
                    pending.add(set);
                }
            }
        } catch (VMDisconnectedException | InterruptedException ended) {
            end();
        }
    }

    /** Handles what cannot be a stop; returns false for what may be one. */
    private boolean handleAtOnce(EventSet set) {
        boolean mayStop = false;
        for (Event event : set) {
            breakpoints.noteCatcher(event);
            if (event instanceof VMStartEvent start) {
                threads.number(start.thread());  // the main thread is number 1
                holdStart(set);
                return true;
            } else if (event instanceof ClassPrepareEvent prepared) {
                breakpoints.bindClass(prepared.referenceType());
                children.bindClass(prepared.referenceType());
                if (history != null) {
                    history.bindClass(prepared.referenceType());
                }
                if (recorder != null) {
                    recorder.bindClass(prepared.referenceType());
                }
            } else if (event instanceof BreakpointEvent hit && children.isStart(hit)) {
                children.prepareChild(hit.thread());
            } else if (event instanceof LocatableEvent recorded && ValueRecorder.isOwn(event)) {
                recorder.note(recorded);
            } else if (event instanceof ModificationWatchpointEvent written
                    && FieldHistory.isOwn(written)) {
                history.note(written);
            } else if (event instanceof MethodExitEvent exit) {
                steps.noteReturn(exit);
            } else if (event instanceof VMDeathEvent || event instanceof VMDisconnectEvent) {
                end();
            } else if (event instanceof LocatableEvent located) {
                // A breakpoint in what an expression calls is passed: its caller waits for it.
                mayStop |= !calls.isCalling(located.thread());
            }
        }
        if (!mayStop) {
            set.resume();
        }
        return !mayStop;
    }

    private synchronized void holdStart(EventSet set) {
        if (isConfigured) {
            set.resume();
        } else {
            startEvents = set;
        }
    }

    /** Ends the configuration: the program runs from here on, or is paused. */
    synchronized void finishConfiguration(boolean pauses) {
        isConfigured = true;
        if (pauses) {
            pause();
        }
        if (startEvents != null) {
            startEvents.resume();
        }
    }

    /** Reports the end once. */
    synchronized void end() {
        if (!isOver) {
            isOver = true;
            notifyAll();
            if (starter == null) {
                client.sendEvent("terminated", Client.fields());
            } else {
                // The tool reports what its JVM did, and its status is the one to know.
                starter.onExit().thenRun(
                        () -> client.sendEvent("terminated", Client.fields()));
            }
        }
    }

    private void handleEvents() {
        try {
            while (true) {
                EventSet set = pending.take();
                synchronized (this) {
                    while (stop != null && !isOver) {
                        wait();
                    }
                }
                handle(set);
            }
        } catch (VMDisconnectedException | InterruptedException ended) {
            end();
        }
    }

    private void handle(EventSet set) {
        Map<String, List<Integer>> hits = new LinkedHashMap<>();
        String reason = null;
        ObjectReference thrown = null;
        ThreadReference thread = null;
        for (Event event : set) {
            if (!(event instanceof LocatableEvent located) || ValueRecorder.isOwn(event)) {
                continue;
            }
            thread = located.thread();
            if (event instanceof StepEvent step) {
                if (steps.isEnd(step)) {
                    reason = reason == null ? "step" : reason;
                } else {
                    breakpoints.noteWritten(step, hits);
                }
            } else if (event instanceof ExceptionEvent raised) {
                if (breakpoints.isCaught(raised)) {
                    reason = "exception";
                    thrown = raised.exception();
                }
            } else if (event instanceof WatchpointEvent watched) {
                breakpoints.noteAccess(watched);
            } else if (event instanceof BreakpointEvent hit) {
                if (breakpoints.isEntry(hit)) {
                    reason = "entry";
                }
                breakpoints.noteHit(hit, hits);
            }
        }
        if (reason == null && hits.isEmpty()) {
            set.resume();
            return;
        }
        boolean isPlainStep = reason == null || reason.equals("step");
        report(set, thread, isPlainStep && !hits.isEmpty() ? hits.keySet().iterator().next() : reason,
                hits, thrown);
    }

    private synchronized void report(EventSet set, ThreadReference thread, String reason,
            Map<String, List<Integer>> hits, ObjectReference thrown) {
        boolean hasStoppedAll = set.suspendPolicy() == EventRequest.SUSPEND_ALL;
        if (!hasStoppedAll) {
            vm.suspend();
            // The thread of the event is then suspended twice; a call in it would resume it once.
            set.resume();
        }
        steps.cancel();
        threads.note(thread);
        stop = new Stop(thread, hasStoppedAll ? set : null, thrown);
        List<Integer> numbers = new ArrayList<>();
        hits.values().forEach(numbers::addAll);
        Collections.sort(numbers);
        boolean isStep = "step".equals(reason);
        client.sendEvent("stopped", Client.fields(
                "reason", reason,
                "description", isStep && steps.hasReturned(thread) ? RETURNED : null,
                "threadId", threads.number(thread),
                "allThreadsStopped", true,
                "text", thrown == null ? null : Throwables.summarize(thrown),
                "hitBreakpointIds", numbers.isEmpty() ? null : numbers,
                "answers", isStep && reader != null ? reader.apply(thread) : null));
    }

    // -- stops -------------------------------------------------------------------------------------

    synchronized Stop stop() {
        return stop;
    }

    synchronized Stop requireStop() throws DebuggerException {
        if (stop == null) {
            throw new DebuggerException("the program is running");
        }
        return stop;
    }

    /** Returns where the exception of the stop came from that a handler throws again; else null. */
    Location thrownAt() {
        Stop last = stop();
        if (last == null || last.thrown() == null) {
            return null;
        }
        if (last != located) {
            thrownAt = ThrownAgain.locate(calls(), last.thread(), last.thrown());
            located = last;
        }
        return thrownAt;
    }

    synchronized void pause() {
        if (stop != null || isOver) {
            return;
        }
        vm.suspend();
        threads.forget();
        ThreadReference thread = threads.mostInteresting();
        stop = new Stop(thread, null, null);
        steps.cancel();
        client.sendEvent("stopped", Client.fields(
                "reason", "pause",
                "threadId", threads.number(thread),
                "allThreadsStopped", true));
    }

    /** Sets what reads the values that the report of the next step shows; null where none is wanted. */
    synchronized void setReader(Function<ThreadReference, Object> reader) {
        this.reader = reader;
    }

    /** Lets the program run; it stops again at once where another thread's hit is pending. */
    synchronized void resume() throws DebuggerException {
        Stop last = requireStop();
        stop = null;
        handles.clear();
        threads.forget();
        notifyAll();
        if (last.set() != null) {
            last.set().resume();
        } else {
            vm.resume();
        }
    }

    /** Returns the variables that our own expressions have besides the program's. */
    Map<String, Value> pseudoVariables(ThreadReference thread) {
        Map<String, Value> result = new LinkedHashMap<>();
        result.put("$thread", vm.mirrorOf(threads.number(thread)));
        Stop last = stop();
        if (last != null && last.thrown() != null) {
            result.put("$exception", last.thrown());
            addRethrow(result, last);
        }
        if (steps.hasReturned(thread)) {
            result.put("$returned", steps.returned());
        }
        return result;
    }

    /** Adds the line that throws the exception again, if a handler has run code before. */
    private void addRethrow(Map<String, Value> result, Stop last) {
        try {
            Location top = thrownAt() == null ? null : last.thread().frame(0).location();
            if (top != null && ThrownAgain.changesValues(top)) {
                Sources.Shown shown = sources.show(top);
                result.put("$rethrown", vm.mirrorOf(shown.name() + ":" + shown.line()));
            }
        } catch (IncompatibleThreadStateException running) {
            // It has none then.
        }
    }

    Evaluator evaluator(FramePosition position) {
        return new Evaluator(this, position, pseudoVariables(position.thread()));
    }

    /** Lets a JVM run on without us. */
    static void release(VirtualMachine vm) {
        try {
            vm.dispose();
        } catch (VMDisconnectedException over) {
            // That is what was wanted.
        }
    }

    /** Ends the connection: the program ends with it, or runs on without breakpoints. */
    void disconnect(boolean ends) {
        try {
            if (ends) {
                vm.exit(143);  // as a JVM that SIGTERM ends
            } else {
                vm.dispose();
            }
        } catch (VMDisconnectedException over) {
            // That is what was wanted.
        }
    }
}
