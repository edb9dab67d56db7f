<?php
// Runs a program's script with its sources rewritten. PHP reads the file of its command line itself,
// so this file is there, and includes the program's.
if (!class_exists('PhpToken')) {
    fwrite(STDERR, "debugger: this PHP has no extension tokenizer, by which a run is recorded\n");
    exit(255);
}
(static function (): void {
    foreach (['text', 'journal', 'history', 'files', 'rewriter', 'recorder'] as $part) {
        require __DIR__ . "/php_$part.php";
    }
    $order = ['root' => []];
    foreach (file((string) getenv('DEBUGGER_SCRIPT_ORDER'), FILE_IGNORE_NEW_LINES) as $line) {
        [$key, $value] = explode("\t", $line, 2);
        $key === 'root' ? $order['root'][] = $value : $order[$key] = $value;
    }
    array_shift($GLOBALS['argv']);
    $_SERVER['argv'] = $GLOBALS['argv'];
    $_SERVER['argc'] = $GLOBALS['argc'] = count($GLOBALS['argv']);
    foreach (['PHP_SELF', 'SCRIPT_NAME', 'SCRIPT_FILENAME', 'PATH_TRANSLATED'] as $name) {
        $_SERVER[$name] = $GLOBALS['argv'][0];
    }
    DebuggerRecorder::begin($order);
})();
try {
    include $argv[0];
} catch (Throwable $debugger_error) {
    DebuggerRecorder::endByError($debugger_error);
    throw $debugger_error;
}
