import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

// Makes a report of parts in a pool. A report waits for its parts in the pool's only thread, which
// they need themselves.
public class Pool {
    private final ExecutorService workers = Executors.newFixedThreadPool(1);

    int part(int number) {
        return number * number;
    }

    int report(int size) throws Exception {
        List<Future<Integer>> parts = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            int number = i;
            parts.add(workers.submit(() -> part(number)));
        }
        int sum = 0;
        for (Future<Integer> part : parts) {
            sum += part.get(); // @starved
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        Pool pool = new Pool();
        Future<Integer> report = pool.workers.submit(() -> pool.report(3));
        System.out.println("report " + report.get()); // @awaited
    }
}
