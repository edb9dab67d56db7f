import java.time.LocalTime;
import java.util.List;

// Chooses fares. The night begins at 22, but `isBefore(22:00)` and `isAfter(6:00)` are joined the
// wrong way round, so that the day never ends.
public class Fares {
    record Trip(LocalTime start, int minutes) {}

    static boolean isDay(LocalTime at) {
        return at.isBefore(LocalTime.of(22, 0)) || at.isAfter(LocalTime.of(6, 0));
    }

    static int fare(Trip trip) {
        int cents = 250;
        if (!isDay(trip.start())) {
            cents += 200;
        }
        if (trip.minutes() > 30) {
            cents += (trip.minutes() - 30) * 5; // @long
        }
        return cents; // @fare
    }

    public static void main(String[] args) {
        int sum = 0;
        for (Trip trip : List.of(new Trip(LocalTime.of(9, 0), 20),
                new Trip(LocalTime.of(23, 30), 40))) {
            sum += fare(trip);
        }
        System.out.println("sum " + sum);
    }
}
