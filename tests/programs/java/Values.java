import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

// Has a value of every sort when it is at the marker.
public class Values {
    enum Color { RED, GREEN }

    record Point(int x, int y) {
        int sum() {
            return x + y;
        }
    }

    static class Account {
        private final String owner;
        private int balance;
        static int opened;

        Account(String owner, int balance) {
            this.owner = owner;
            this.balance = balance;
            opened++;
        }

        int deposit(int amount) {
            balance += amount; // @deposit
            return balance;
        }

        int deposit(String amount) {
            return deposit(Integer.parseInt(amount));
        }
    }

    private int counter;

    void count() {
        counter = 1; // @before
        counter = 3;
        Runnable more = () -> counter += 4; // @lambda
        more.run();
    }

    static int total(List<Integer> numbers, int... more) {
        int sum = 0;
        for (int number : numbers) {
            sum += number;
        }
        for (int number : more) {
            sum += number;
        }
        return sum; // @total
    }

    public static void main(String[] args) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            numbers.add(i * i);
        }
        int[] primes = {2, 3, 5, 7};
        int[][] grid = {{1, 2}, {3, 4}};
        String[] words = {"one", null};
        Map<String, Integer> ages = new LinkedHashMap<>(Map.of("ada", 36));
        Map<String, List<Integer>> tree = new TreeMap<>(Map.of("b", List.of(1, 2), "a", List.of()));
        Map<Integer, String> hashed = new HashMap<>(Map.of(1, "x"));
        Map<Integer, Integer> many = new ConcurrentHashMap<>();
        for (int i = 0; i <= 100_000; i++) {
            many.put(i, -i);
        }
        Set<String> tags = new HashSet<>(Set.of("new"));
        ArrayDeque<Integer> queue = new ArrayDeque<>(List.of(1, 2));
        Point point = new Point(1, 2);
        Account account = new Account("ada", 100);
        Color color = Color.GREEN;
        Optional<String> maybe = Optional.of("yes");
        AtomicInteger atomic = new AtomicInteger(7);
        BigDecimal price = new BigDecimal("12.50");
        LocalDate day = LocalDate.of(2024, 2, 29);
        String text = "a \"quoted\"\nline";
        Integer boxed = 1000;
        char letter = 'x';
        byte small = -3;
        long large = 1L << 40;
        double half = 0.5;
        Object nothing = null;
        Runnable task = () -> System.out.println(point);
        int result = total(numbers, 1, 2); // @ready
        new Values().count();
        System.out.println(result + account.deposit(5) + (task == null ? 1 : 0));
    }
}
