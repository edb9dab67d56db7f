import java.util.ArrayList;
import java.util.List;

/** A range becomes empty in a method two calls below the checked one; a sum is not kept up to date. */
public class Range {
    static final class Window {
        private int low = 0;
        private int high = 10;

        void narrow(int count) {
            shift(0);
            shrink(count);
            shift(0);
        }

        private void shift(int by) {
            low += by;
        }

        private void shrink(int count) {
            int before = high;
            high = before - count;  // @shrinks
            log(before);
        }

        private void log(int before) {
            if (before < 0) {
                System.out.println("it was " + before);
            }
        }

        int size() {
            return high - low;
        }
    }

    static final class Ledger {
        final List<Integer> entries = new ArrayList<>();
        int total;

        void add(int cents) {
            entries.add(cents);
            total += cents;
        }

        void replace(int index, int cents) {
            entries.set(index, cents);  // @forgets
        }

        int sum() {
            int sum = 0;
            for (int one : entries) {
                sum += one;
            }
            return sum;
        }
    }

    static void check(Window window, Ledger ledger) {
        System.out.println(window.size() + " " + ledger.total);
    }

    /** The first window becomes empty, and is never checked again; the false check is the second's. */
    static void checkTwo() {
        Ledger ledger = new Ledger();
        Window first = new Window();
        check(first, ledger);
        first.narrow(20);
        Window second = new Window();
        second.high = -1;
        check(second, ledger);
    }

    public static void main(String[] words) {
        if (words.length > 0) {
            checkTwo();
            return;
        }
        Window window = new Window();
        Ledger ledger = new Ledger();
        for (int turn = 1; turn <= 4; turn++) {
            window.narrow(turn + 1);
            ledger.add(turn);
            check(window, ledger);
        }
        ledger.replace(1, 9);
        check(window, ledger);
    }
}
