package debugger.jdi;

/**
 * A function as a user names it: `add`, `Cart.add`, `shop.Cart.add`, `Cart::add`, `Cart#add`; a
 * constructor is `Cart.<init>` or `new Cart`. A function that Kotlin has outside of classes, `shop.add`,
 * is one of the class that kotlinc names after its file, `shop.CartKt`.
 */
record FunctionName(String className, String method) {
    static FunctionName parse(String text) {
        String plain = text.replaceAll("\\(.*\\)\\s*$", "").replace("::", ".").replace('#', '.').trim();
        if (plain.startsWith("new ")) {
            return new FunctionName(plain.substring(4).trim(), "<init>");
        }
        int end = plain.lastIndexOf('.');
        return end < 0 ? new FunctionName("", plain)
                : new FunctionName(plain.substring(0, end), plain.substring(end + 1));
    }

    /** Returns the last part of the class's name; "" for a function of any class. */
    String simpleClass() {
        return className.substring(className.lastIndexOf('.') + 1);
    }

    boolean fitsClass(String name) {
        if (className.isEmpty()) {
            return !Names.isLibrary(name);
        }
        String full = Names.full(name);
        String wanted = className.replace('$', '.');
        return isEnd(full, wanted) || full.endsWith("Kt")
                && isEnd(full.substring(0, Math.max(0, full.lastIndexOf('.'))), wanted);
    }

    private static boolean isEnd(String full, String wanted) {
        return full.equals(wanted) || full.endsWith("." + wanted);
    }
}
