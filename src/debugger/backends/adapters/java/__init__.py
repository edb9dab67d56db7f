"""The debug adapter for Java: our own, in Java on the JDK's debug interface (JDI)."""
