import java.util.ArrayList;
import java.util.LinkedList;
import java.util.List;

/** Code of which the counts of lines are known, with each kind of jump and table. */
public class Counted {
    record Item(String name, int price) {}

    final int size;

    Counted(int many) {
        // The list is made before the object is: its type is not initialised yet in a branch.
        this(many > 1 ? new ArrayList<>(List.of(many)) : new LinkedList<>());
    }

    Counted(List<Integer> some) {
        size = some.size();
    }

    static int total(List<Item> items, boolean isMember) {
        int sum = 0;
        for (Item one : items) { // @loop
            if (one.price() > 100) {
                sum -= one.price() / 10; // @dear
            }
            sum += one.price();
        }
        if (isMember) {
            sum = sum * 95 / 100; // @member
        }
        return sum;
    }

    static int jumps(int many) {
        int sum = 0;
        for (int i = 0; i < many; i++) sum += i; // @short
        while (true) {
            sum++;
            if (sum > 20)
                break; // @breaks
            if (sum % 2 == 0) continue;
            sum += Math.max( // @spread
                Math.abs(-1),
                Math.abs(1));
        }
        do { sum--; } while (sum > 10);
        for (String one : List.of("a", "b", "zz"))
            switch (one) {
                case "a": sum += 1; break; // @case
                case "b": sum += 2; break;
                default: sum += 3;
            }
        int found = switch (many) { case 0 -> 10; case 1 -> 20; case 2 -> 30; default -> 40; };
        return sum + found + new Counted(many).size + new Counted(0).size;
    }

    static int guarded(Object text) {
        synchronized (text) {
            try {
                return text instanceof String word ? Integer.parseInt(word) : -1;
            } catch (NumberFormatException failed) {
                return -2; // @caught
            } finally {
                Counted.class.getName(); // @finally
            }
        }
    }

    static void threads() throws InterruptedException {
        List<Thread> running = new ArrayList<>();
        for (int number = 0; number < 4; number++) {
            Thread one = new Thread(() -> {
                for (int i = 0; i < 20_000; i++) {
                    step(i);
                }
            });
            one.start();
            running.add(one);
        }
        for (Thread one : running) {
            one.join();
        }
    }

    static int step(int i) {
        return i + 1; // @step
    }

    static void starts(String prices) throws Exception {
        String java = System.getProperty("java.home") + "/bin/java";
        String classes = System.getProperty("java.class.path");
        List<String> words = List.of(java, "-cp", classes, "Counted", "ends", prices + ",900");
        new ProcessBuilder(words).inheritIO().start().waitFor();
    }

    public static void main(String[] args) throws Exception {
        List<Item> items = new ArrayList<>();
        for (String word : args[1].split(",")) {
            items.add(new Item("item", Math.max(guarded(word), 0)));
        }
        int sum = total(items, args.length > 2);
        System.out.println(sum + " " + jumps(items.size()));
        switch (args[0]) {
            case "exits" -> System.exit(4);
            case "halts" -> Runtime.getRuntime().halt(5);
            case "waits" -> Thread.sleep(600_000);
            case "threads" -> threads();
            case "starts" -> starts(args[1]);
            default -> { }
        }
        if (sum < 50) {
            throw new IllegalStateException("too little: " + sum); // @thrown
        }
    }
}
