import java.io.StringReader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/** Crashes whose value is not the operand that stands at the failed instruction. */
public class Culprits {

    static int popped(Deque<int[]> stack) {
        stack.push(new int[] {4, 0});  // @pushed
        stack.push(new int[] {6, 2});
        stack.pop();
        int divisor = stack.pop()[1];
        return 10 / divisor;  // @popped
    }

    static int polled(Deque<Integer> queue) {
        queue.add(7);
        queue.add(0);  // @queued
        queue.poll();
        int divisor = queue.poll();
        return 10 / divisor;  // @polled
    }

    static List<Integer> streamed() {
        List<String> words = new ArrayList<>();
        words.add("a");
        words.add(null);  // @null
        return words.stream().map(word -> word.length()).toList();  // @streamed
    }

    static void fixed() {
        List<Integer> sizes = Arrays.asList(1, 2);  // @fixed
        sizes.add(3);  // @adds
    }

    static String split() {
        String[] parts = "ada;36".split(",");  // @parts
        return parts[1];  // @second
    }

    static String cut(String text) {
        int at = text.indexOf('=');  // @at
        return text.substring(0, at);  // @cut
    }

    static String joined() {
        String middle = System.getProperty("no.such");  // @middle
        return String.join("-", "a").concat(middle);  // @joined
    }

    static String locked() {
        List<Integer> numbers = new ArrayList<>(List.of(1, 2, 3));
        synchronized (numbers) {
            for (Integer one : numbers) {
                if (one == 1) numbers.remove(one);  // @removes
            }
        }
        return "";
    }

    static int closed(int count) {
        try (StringReader reader = new StringReader("x")) {
            int[] sizes = new int[2];
            int last = count + 1;  // @last
            return sizes[last];  // @closed
        } finally {
            count = 0;
        }  // @rethrown
    }

    public static void main(String[] words) {
        System.out.println(switch (words[0]) {
            case "popped" -> popped(new ArrayDeque<>());
            case "polled" -> polled(new ArrayDeque<>());
            case "streamed" -> streamed();
            case "split" -> split();
            case "cut" -> cut("key");
            case "joined" -> joined();
            case "locked" -> locked();
            case "closed" -> closed(words.length);
            default -> {
                fixed();
                yield "";
            }
        });
    }
}
