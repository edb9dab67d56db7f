import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

// Two threads take two locks in opposite order: monitors, or locks of java.util.concurrent.
public class Deadlock {
    static final Object ACCOUNTS = new Object();
    static final Object ORDERS = new Object();
    static final ReentrantLock FIRST = new ReentrantLock();
    static final ReentrantLock SECOND = new ReentrantLock();
    static final CountDownLatch BOTH = new CountDownLatch(2);

    static void withMonitors(Object one, Object other) throws InterruptedException {
        synchronized (one) {
            BOTH.countDown();
            BOTH.await();
            synchronized (other) { // @monitor
                System.out.println("never"); // as after FIRST.lock()
            }
        }
    }

    static void withLocks(ReentrantLock one, ReentrantLock other) throws InterruptedException {
        one.lock();
        BOTH.countDown();
        BOTH.await();
        other.lock(); // @lock
        System.out.println("never");
    }

    interface Work {
        void run() throws InterruptedException;
    }

    static Thread start(String name, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }, name);
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws InterruptedException {
        boolean isMonitor = args.length == 0;
        Thread biller = start("biller", () -> {
            if (isMonitor) {
                withMonitors(ACCOUNTS, ORDERS);
            } else {
                withLocks(FIRST, SECOND);
            }
        });
        Thread packer = start("packer", () -> {
            if (isMonitor) {
                withMonitors(ORDERS, ACCOUNTS);
            } else {
                withLocks(SECOND, FIRST);
            }
        });
        if (isMonitor) {
            biller.join(); // @join
            packer.join();
        }
    }
}
