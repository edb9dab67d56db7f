import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

// Reads orders and prices them. One row names its article with a blank behind it, which the
// catalogue does not have: the price is null, and is unboxed far from there.
public class Importer {
    record Article(String code, Integer cents) {}

    record Line(String code, int count) {
        static Line parse(String row) {
            String[] parts = row.split(";");
            return new Line(parts[0], Integer.parseInt(parts[1].trim()));
        }
    }

    static class Catalogue {
        private final Map<String, Article> articles = new HashMap<>();

        void add(String code, int cents) {
            articles.put(code, new Article(code, cents));
        }

        Integer priceOf(String code) {
            Article found = articles.get(code);
            return found == null ? null : found.cents();
        }
    }

    static int total(Catalogue catalogue, List<Line> lines) {
        int sum = 0;
        for (Line line : lines) {
            int price = catalogue.priceOf(line.code()); // @unboxed
            sum += price * line.count();
        }
        return sum;
    }

    public static void main(String[] args) {
        Catalogue catalogue = new Catalogue();
        catalogue.add("pen", 120);
        catalogue.add("ink", 890);
        List<Line> lines = new ArrayList<>();
        for (String row : List.of("pen;3", "ink ;1", "pen;1")) {
            lines.add(Line.parse(row));
        }
        System.out.println("total " + total(catalogue, lines));
    }
}
