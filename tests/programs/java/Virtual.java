import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

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

    // By reflection, as a JDK of before 21 compiles it, too.
    static Thread start(String name, Runnable work) throws ReflectiveOperationException {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        builder = name.isEmpty() ? builder : type.getMethod("name", String.class).invoke(builder, name);
        return (Thread) type.getMethod("start", Runnable.class).invoke(builder, work);
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 1) {
            start("worker", () -> System.out.println(twice(21) / Integer.parseInt(args[1]))).join(); // @fails
            return;
        }
        if (args.length > 0) {
            CountDownLatch met = new CountDownLatch(2);
            Thread one = start("packer", () -> lockBoth(shelf, till, met));
            start("biller", () -> lockBoth(till, shelf, met));
            one.join();
        }
        CountDownLatch gate = new CountDownLatch(1);
        for (int i = 0; i < 20; i++) {
            Thread waiting = start("", () -> await(gate));
            while (waiting.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
        }
        start("worker", () -> System.out.println(twice(21))).join();
        gate.countDown();
    }
}
