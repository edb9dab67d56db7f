package debugger.jdi;

import com.sun.jdi.ObjectCollectedException;
import com.sun.jdi.Value;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The links of a chain as they are reported, and how it ended. */
final class ChainReport {
    private static final int STACK_MAX = 4;

    private final Values values;
    private final Sources sources;
    private final List<Map<String, Object>> links = new ArrayList<>();
    private String thread = "";  // that of the stop
    private String expression = "";
    private String value;
    private RecordedFrame frame;
    private String ended = "not followed";
    private String ending = "";

    ChainReport(Target target) {
        values = target.values();
        sources = target.sources();
    }

    void begin(String expression, ValueTrace.Cursor first) {
        this.expression = expression;
        thread = first.moment().threadName();
        value = text(first.value());
        frame = first.frame();
    }

    int count() {
        return links.size();
    }

    /** Returns a value's text; null of one that is not known. */
    String text(ValueReader.Known known) {
        if (known == null) {
            return null;
        }
        try {
            return known.value() instanceof String plain ? Values.quote(plain, '"')
                    : values.format((Value) known.value(), null);
        } catch (ObjectCollectedException gone) {
            return null;
        }
    }

    /** Adds a link at a frame of a moment. */
    Map<String, Object> add(String kind, String text, Moment moment, int index) {
        List<Object> stack = new ArrayList<>();
        for (int at = index + 1; at < moment.frames().size() && stack.size() < STACK_MAX; at++) {
            if (moment.frames().get(at).isOwn()) {
                stack.add(describe(moment.frames().get(at)));
            }
        }
        Map<String, Object> link = Client.fields("kind", kind, "text", text,
                "frame", describe(moment.frames().get(index)), "stack", stack,
                "thread", moment.threadName().equals(thread) ? "" : moment.threadName(),
                "isInferred", false);
        links.add(link);
        return link;
    }

    Map<String, Object> last() {
        return links.get(links.size() - 1);
    }

    void markInferred() {
        last().put("isInferred", true);
    }

    void addDetail(String text) {
        if (!links.isEmpty()) {
            List<Object> details = new ArrayList<>(
                    last().get("details") instanceof List<?> before ? before : List.of());
            details.add(text);
            last().put("details", details);
        }
    }

    /** Notes the operands of a computed value at the last link, or at a link of their own. */
    void addOperands(ValueTrace.Cursor at, ValueNode computed, List<ValueNode> leaves,
            ValueNode chosen, Function<ValueNode, ValueReader.Known> read) {
        boolean isThere = !links.isEmpty() && describe(at.frame()).equals(last().get("frame"));
        if (!isThere) {
            add("computed", "computed", at.moment(), at.index()).put("new", text(at.value()));
        }
        List<Object> operands = new ArrayList<>();
        for (ValueNode one : leaves) {
            String known = text(read.apply(one));
            operands.add(Client.fields("text", CodeText.of(one, at.method()), "value", known,
                    "isFollowed", one == chosen));
        }
        last().put("operands", operands);
    }

    // -- the end -----------------------------------------------------------------------------------

    /** Ends the chain; the null is the next value to follow. */
    ValueTrace.Cursor end(String how, String text) {
        ended = how;
        ending = text;
        return null;
    }

    /** Ends the chain for this run: a further one knows more. */
    ValueTrace.Cursor pause(String text) {
        return end("bound", text);
    }

    String place(RecordedFrame at) {
        List<Object> described = describe(at);
        Path file = Path.of((String) described.get(1));
        return (file.getFileName() == null ? "?" : file.getFileName()) + ":" + described.get(2);
    }

    /** Returns the place of a moment in the program's code, with its callers. */
    String path(Moment moment) {
        List<String> places = new ArrayList<>();
        for (RecordedFrame one : moment.frames()) {
            if (one.isOwn() && places.size() < STACK_MAX) {
                places.add(place(one));
            }
        }
        return String.join(" < ", places);
    }

    private List<Object> describe(RecordedFrame at) {
        Sources.Shown shown = sources.show(at.location());
        String file = shown.file() != null ? shown.file().toString()
                : shown.name() != null ? shown.name() : "";
        return List.of(Names.function(at.location()), file, shown.line());
    }

    String format(RecordPlan plan) {
        return Json.format(Client.fields("expression", expression, "value", value,
                "frame", describe(frame), "links", links, "ended", ended, "ending", ending,
                "wanted", plan.wanted(), "supposed", plan.supposed()));
    }
}
