package debugger.counting;

/** A method whose calls and lines are counted. */
final class CountedMethod {
    final String name;
    final int entrySlot;
    final LinePlan plan;

    CountedMethod(String name, int entrySlot, LinePlan plan) {
        this.name = name;
        this.entrySlot = entrySlot;
        this.plan = plan;
    }
}
