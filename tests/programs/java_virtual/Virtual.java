import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

// Runs virtual threads: some that wait at one place, or two that lock each other out.
public class Virtual {
    static final ReentrantLock shelf = new ReentrantLock();
    static final ReentrantLock till = new ReentrantLock();

    static int twice(int number) {
        int result = number * 2;
        return result; // @twice
    }

    static void await(CountDownLatch gate) {
        try {
            gate.await(); // @await
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    static void lockBoth(ReentrantLock first, ReentrantLock second, CountDownLatch met) {
        first.lock();
        met.countDown();
        await(met);
        second.lock(); // @lock
    }

    public static void main(String[] args) throws InterruptedException {
        if (args.length > 0) {
            CountDownLatch met = new CountDownLatch(2);
            Thread one = Thread.ofVirtual().name("packer").start(() -> lockBoth(shelf, till, met));
            Thread.ofVirtual().name("biller").start(() -> lockBoth(till, shelf, met));
            one.join();
        }
        CountDownLatch gate = new CountDownLatch(1);
        for (int i = 0; i < 20; i++) {
            Thread waiting = Thread.ofVirtual().start(() -> await(gate));
            while (waiting.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
        }
        Thread.ofVirtual().name("worker").start(() -> System.out.println(twice(21))).join();
        gate.countDown();
    }
}
