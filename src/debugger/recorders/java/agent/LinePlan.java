package debugger.counting;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * Where a method's code is to count, and what each counter says of its line.
 *
 * A line is counted where the line table has it begin, once for each straight run of code: a call
 * whose arguments stand on further lines comes back to its first one. A loop within one line begins
 * only once in the table, so where a jump goes back to is counted, too. The greater sum is the
 * line's.
 */
final class LinePlan {
    /** A counter of a line: where the line begins, or where its loop does. */
    private static final class LineCounter {
        final int slot;
        final int line;
        final boolean isLoop;

        LineCounter(int slot, int line, boolean isLoop) {
            this.slot = slot;
            this.line = line;
            this.isLoop = isLoop;
        }
    }

    final NavigableMap<Integer, List<Integer>> slots = new TreeMap<>();
    private final List<LineCounter> lines = new ArrayList<>();
    private int nextSlot;

    private LinePlan(int firstSlot) {
        this.nextSlot = firstSlot;
    }

    /**
     * Plans the counters of a code; `table` is its line table, `firstSlot` the first free counter.
     * Lines behind the last one are of inlined code, after which a line only goes on.
     */
    static LinePlan make(Instructions code, Map<Integer, Integer> table, int lastLine,
            Set<Integer> handlers, int firstSlot) {
        LinePlan plan = new LinePlan(firstSlot);
        BitSet entered = new BitSet();
        handlers.forEach(entered::set);
        BitSet loops = new BitSet();
        for (int at = 0; at < code.size(); at += code.length(at)) {
            for (int target : code.targets(at)) {
                entered.set(target);
                if (target <= at) {
                    loops.set(target);
                }
            }
        }
        plan.addCounters(code, findBegins(table, lastLine), entered, loops);
        return plan;
    }

    /** Returns where another line begins; what is inlined into a line does not end it. */
    private static Map<Integer, Integer> findBegins(Map<Integer, Integer> table, int lastLine) {
        Map<Integer, Integer> begins = new TreeMap<>();
        int line = 0;
        for (Map.Entry<Integer, Integer> one : new TreeMap<>(table).entrySet()) {
            if (one.getValue() <= lastLine && one.getValue() != line) {
                begins.put(one.getKey(), one.getValue());
                line = one.getValue();
            }
        }
        return begins;
    }

    private void addCounters(Instructions code, Map<Integer, Integer> table, BitSet entered,
            BitSet loops) {
        Set<Integer> counted = new HashSet<>();
        int line = 0;
        for (int at = 0; at < code.size(); at += code.length(at)) {
            if (entered.get(at)) {
                counted.clear();
            }
            line = table.getOrDefault(at, line);
            if (table.containsKey(at) && counted.add(line)) {
                add(at, line, false);
            } else if (loops.get(at) && line > 0) {
                add(at, line, true);
            }
            if (Instructions.endsBlock(code.opcode(at))) {
                counted.clear();
            }
        }
    }

    private void add(int at, int line, boolean isLoop) {
        lines.add(new LineCounter(nextSlot, line, isLoop));
        slots.computeIfAbsent(at, none -> new ArrayList<>()).add(nextSlot);
        nextSlot++;
    }

    /** Puts the counter of an edge before a line's own, wherever the line begins. */
    void addEdge(int line, int edge) {
        for (List<Integer> some : slots.values()) {
            if (lines.stream().anyMatch(
                    one -> !one.isLoop && one.line == line && some.contains(one.slot))) {
                some.add(0, edge);
            }
        }
    }

    int nextSlot() {
        return nextSlot;
    }

    /** Returns how often each line ran. */
    NavigableMap<Integer, Long> sums(long[] counts) {
        NavigableMap<Integer, Long> begins = new TreeMap<>();
        NavigableMap<Integer, Long> loops = new TreeMap<>();
        for (LineCounter one : lines) {
            (one.isLoop ? loops : begins).merge(one.line, counts[one.slot], Long::sum);
        }
        loops.forEach((line, times) -> begins.merge(line, times, Math::max));
        return begins;
    }
}
