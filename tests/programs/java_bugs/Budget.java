import java.util.ArrayList;
import java.util.List;

// Keeps entries and their sum. The correction of an entry forgets to take the old amount out.
public class Budget {
    static class Entry {
        final String name;
        int cents;

        Entry(String name, int cents) {
            this.name = name;
            this.cents = cents;
        }
    }

    final List<Entry> entries = new ArrayList<>();
    int total;

    void add(String name, int cents) {
        entries.add(new Entry(name, cents));
        total += cents;
        check();
    }

    void correct(String name, int cents) {
        for (Entry entry : entries) {
            if (entry.name.equals(name)) {
                total += cents; // @forgets
                entry.cents = cents;
            }
        }
        check(); // @corrected
    }

    void check() {
        System.out.println(entries.size() + " entries"); // @checked
    }

    public static void main(String[] args) {
        Budget budget = new Budget();
        budget.add("rent", 900);
        budget.add("food", 400);
        budget.correct("food", 450);
        budget.add("train", 80);
        System.out.println(budget.total);
    }
}
