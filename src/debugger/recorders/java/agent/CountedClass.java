package debugger.counting;

import java.util.ArrayList;
import java.util.List;

/** A class whose methods are counted. */
final class CountedClass {
    final int number;
    final String name;
    final String location;
    final List<CountedMethod> methods = new ArrayList<>();
    /** Methods that have no room for counters. */
    final List<String> uncounted = new ArrayList<>();
    /** The name of its source file; "" without that attribute. */
    String source = "";
    int slots;

    CountedClass(int number, String name, String location) {
        this.number = number;
        this.name = name;
        this.location = location;
    }
}
