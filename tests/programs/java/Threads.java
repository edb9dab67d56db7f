import java.util.concurrent.CountDownLatch;

// Four threads that are all alive when one of them passes the marker.
public class Threads {
    static final CountDownLatch STARTED = new CountDownLatch(4);
    static final CountDownLatch FINISHED = new CountDownLatch(1);

    static void work(int number) {
        try {
            STARTED.countDown();
            STARTED.await();
            if (number == 0) {
                FINISHED.countDown(); // @all_alive
            }
            FINISHED.await(); // @waits
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        String[] names = {"reader", "parser", "writer", "logger"};
        Thread[] threads = new Thread[names.length];
        for (int index = 0; index < names.length; index++) {
            int number = index;
            threads[index] = new Thread(() -> work(number), names[index]);
            threads[index].start();
        }
        for (Thread thread : threads) {
            thread.join(); // @join
        }
        System.out.println("joined"); // @joined
    }
}
