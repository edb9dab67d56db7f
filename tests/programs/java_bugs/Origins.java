import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Wrong values, each with its origin some calls and objects away; the argument chooses one. */
public class Origins {
    record Line(String code, int count, int cents) {
        int total() {
            return count * cents;
        }
    }

    static final class Order {
        final List<Line> lines = new ArrayList<>();
        String coupon;
        int total;

        void add(Line line) {
            lines.add(line);
            total += line.total();
        }
    }

    static final class Id {
        final String text;

        Id(String text) {
            this.text = text;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Id id && id.text.equals(text);
        }
    }

    static final Map<String, Integer> PRICES = new HashMap<>();
    static final Map<Integer, String> NAMES = new HashMap<>();
    static final Map<Id, String> ROOMS = new HashMap<>();
    static final List<String> QUEUE = new ArrayList<>();
    static int[] counts = new int[4];
    static volatile int shared;

    static int priceOf(String code) {
        Integer price = PRICES.get(code);  // @lookup
        return price == null ? 0 : price;
    }

    static String nameOf(int id) {
        return NAMES.computeIfAbsent(id % 10, key -> "user" + id);  // @computes
    }

    static boolean isSame(String one, String other) {
        return one == other;  // @compares
    }

    static Order order() {
        PRICES.put("pen", 120);
        PRICES.put("ink", 450);
        Order order = new Order();  // @creates
        String[] codes = {"pen", "ink ", "pad"};  // @codes
        for (String code : codes) {
            order.add(new Line(code, 2, priceOf(code)));
        }
        return order;
    }

    static void count(int at, int by) {
        int next = at;
        counts[next++] = by;  // @counts
        shared = next;
    }

    static void fill() {
        QUEUE.add("a");
        QUEUE.add("b");
        QUEUE.add("c");
    }

    static int parse(Line line) {
        try {
            return Integer.parseInt(line.code());  // @parses
        } catch (NumberFormatException wrong) {
            throw new IllegalArgumentException("no number", wrong);  // @wraps
        }
    }

    static void check(Line line) {
        try {
            parse(line);
        } finally {
            shared++;
        }
    }

    static void limit(int most) {
        if (most > 3) {
            throw new IllegalStateException("too many");  // @limits
        }
    }

    static void drop(String name) {
        QUEUE.remove(name);  // @drops
    }

    public static void main(String[] words) throws InterruptedException {
        switch (words[0]) {
            case "key" -> {
                Line second = order().lines.get(1);
                System.out.println(second.cents());  // @key
            }
            case "unset" -> {
                Order order = order();
                System.out.println(order.coupon);  // @unset
            }
            case "overflow" -> {
                int big = 2_000_000_000;
                Order order = order();
                int sum = big + order.total * 1_000_000;  // @adds
                System.out.println(sum);  // @overflow
            }
            case "cached" -> {
                nameOf(3);  // @first
                String name = nameOf(13);
                System.out.println(name);  // @cached
            }
            case "entry" -> {
                Map<String, Integer> sums = new HashMap<>(Map.of("a", 2));
                sums.put("b", order().total);  // @puts
                sums.put("c", 2);
                for (Map.Entry<String, Integer> one : sums.entrySet()) {
                    int sum = one.getValue();
                    System.out.println(sum);  // @entry
                }
            }
            case "grouped" -> {
                List<Line> lines = new ArrayList<>();
                lines.add(new Line("ink", 1, 2));
                lines.add(new Line("pen", 0, 2));  // @lists
                lines.add(new Line("pen", 3, 2));
                Map<String, List<Line>> byCode = lines.stream().collect(Collectors.groupingBy(Line::code));
                Line first = byCode.get("pen").get(0);
                System.out.println(first);  // @grouped
            }
            case "identity" -> {
                boolean same = isSame("ab", new String("ab"));
                System.out.println(same);  // @identity
            }
            case "element" -> {
                count(2, 7);
                count(1, 5);
                System.out.println(counts[2]);  // @element
            }
            case "thread" -> {
                Thread writer = new Thread(() -> shared = 77, "writer");  // @races
                writer.start();
                writer.join();
                System.out.println(shared);  // @thread
            }
            case "hash" -> {
                ROOMS.put(new Id("x"), "room");
                String room = ROOMS.get(new Id("x"));  // @asks
                System.out.println(room.length());
            }
            case "state" -> {
                StringBuilder text = new StringBuilder();
                text.append("ab");
                text.setLength(1);
                String shown = text.toString();
                System.out.println(shown);  // @state
            }
            case "text" -> {
                String text = new Line("pen", 2, 0).toString();
                System.out.println(text);  // @text
            }
            case "cause" -> {
                int limit = words.length;
                if (limit > 0) {
                    try {
                        check(new Line("x7", limit, 0));  // @bad
                    } catch (IllegalArgumentException failed) {
                        throw new IllegalStateException(limit + " line", failed);
                    }
                }
            }
            case "loop" -> {
                fill();
                for (String name : QUEUE) {
                    drop(name);
                }
            }
            case "again" -> {
                RuntimeException[] kept = new RuntimeException[1];
                try {
                    limit(words.length + 4);
                } catch (IllegalStateException failed) {
                    kept[0] = failed;
                }
                Optional.empty().orElseThrow(() -> kept[0]);
            }
            case "wrapper" -> {
                nameOf(3);
                String name = NAMES.get((Object) Long.valueOf(3));  // @wrapper
                System.out.println(name.length());
            }
            default -> System.out.println("?");
        }
    }
}
