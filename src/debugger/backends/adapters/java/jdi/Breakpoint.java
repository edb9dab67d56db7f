package debugger.jdi;

import com.sun.jdi.request.EventRequest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** A breakpoint of the client's: where it is, its options, and its requests in the JVM. */
final class Breakpoint {
    final int id;
    final String file;  // of a line; null for a function
    final int line;
    final String function;
    final String condition;
    final int hitCount;
    final String log;
    final List<EventRequest> requests = new ArrayList<>();
    final Set<String> reported = new HashSet<>();  // problems of its condition
    int hits;
    int boundLine;
    String problem = "";

    Breakpoint(int id, String file, Map<String, Object> wanted) {
        this.id = id;
        this.file = file;
        line = wanted.get("line") instanceof Number number ? number.intValue() : 0;
        function = (String) wanted.get("name");
        condition = (String) wanted.get("condition");
        log = (String) wanted.get("logMessage");
        hitCount = wanted.get("hitCondition") instanceof String count ? Integer.parseInt(count) : 0;
    }

    /** Tells whether the client wants the same again: it then keeps its number and its hits. */
    boolean isSame(Breakpoint other) {
        return line == other.line && hitCount == other.hitCount
                && Objects.equals(function, other.function)
                && Objects.equals(condition, other.condition)
                && Objects.equals(log, other.log);
    }

    boolean isBound() {
        return !requests.isEmpty();
    }

    /** All threads are stopped at once where a hit is certain to be a stop. */
    int suspendPolicy() {
        boolean isCertain = condition == null && hitCount == 0 && log == null;
        return isCertain ? EventRequest.SUSPEND_ALL : EventRequest.SUSPEND_EVENT_THREAD;
    }

    private Integer requestedLine() {
        return line > 0 ? line : null;
    }

    /** Describes it (DAP: Breakpoint). */
    Map<String, Object> describe() {
        return Client.fields(
                "id", id,
                "verified", isBound(),
                "line", isBound() && boundLine > 0 ? (Integer) boundLine : requestedLine(),
                "source", file == null ? null : Client.fields("path", file),
                "message", isBound() ? null : problem);
    }
}
