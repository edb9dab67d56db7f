// Counts until `running` is set to false, or for 120 seconds.
public class Endless {
    static boolean running = true;

    static long count() {
        long end = System.currentTimeMillis() + 120_000;
        long counter = 0;
        while (running && System.currentTimeMillis() < end) {
            counter++; // @count
        }
        return counter;
    }

    public static void main(String[] args) {
        System.out.println("counting"); // @start
        count();
        System.out.println("done"); // @done
    }
}
