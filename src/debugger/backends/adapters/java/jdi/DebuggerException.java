package debugger.jdi;

/** A failure with a message for the user. */
final class DebuggerException extends Exception {
    private static final long serialVersionUID = 1;

    DebuggerException(String message) {
        super(message);
    }
}
