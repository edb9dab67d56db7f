<?php
// Records the values of a variable. It runs inside the program, which the question who-wrote loads
// it into: a breakpoint's condition calls debugger_write before each statement that may write it.

// Formats a value as the adapter does.
function debugger_text($value, $depth = 0)
{
    if (is_string($value)) {
        $escapes = ["\\" => "\\\\", "'" => "\\'", "\n" => "\\n", "\r" => "\\r", "\t" => "\\t"];
        return "'" . strtr(substr($value, 0, 200), $escapes) . "'" . (strlen($value) > 200 ? '…' : '');
    }
    if (!is_array($value) && !is_object($value)) {
        return $value === null ? 'null' : var_export($value, true);
    }
    if ($value instanceof UnitEnum) {
        return get_class($value) . '::' . $value->name;
    }
    $is_list = is_array($value) && array_values($value) === $value;
    $parts = [];
    foreach ((array) $value as $key => $part) {
        if (count($parts) >= 20 || $depth >= 3) {
            $parts[] = '…';
            break;
        }
        $text = debugger_text($part, $depth + 1);
        if (is_object($value)) {
            // The key of a property that is not public has its class before it.
            $parts[] = preg_replace('/^\0.*\0/s', '', $key) . ": $text";
        } else {
            $parts[] = $is_list ? $text : (is_int($key) ? $key : "'$key'") . " => $text";
        }
    }
    $all = implode(', ', $parts);
    return is_array($value) ? "[$all]" : get_class($value) . " {" . $all . "}";
}

// Reads a property without the object's own code, whoever may see it.
function debugger_part($object, $name)
{
    foreach ((array) $object as $key => $part) {
        if ($key === $name || substr((string) $key, -strlen($name) - 1) === "\0$name") {
            return $part;
        }
    }
    return null;
}

function debugger_value($read)
{
    try {
        return $read === null ? null : debugger_text($read());
    } catch (\Throwable $error) {
        return null;
    }
}

// The callers, the innermost first: the name, and the file and line that called it.
function debugger_stack()
{
    $stack = [];
    foreach (debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS, 30) as $one) {
        // Xdebug calls what it evaluates `unknown`.
        $is_ours = in_array($one['function'], ['eval', 'unknown']) || strncmp($one['function'], 'debugger_', 9) === 0
            || strpos($one['file'] ?? '', "eval()'d") !== false;
        if ($is_ours || preg_match('/^(?:include|require)/', $one['function'])) {
            continue;
        }
        $name = ($one['class'] ?? '') . ($one['type'] ?? '') . $one['function'];
        $stack[] = [$name, $one['file'] ?? null, $one['line'] ?? null];
    }
    return array_slice($stack, 0, 8);
}

function debugger_write($path, $number, $owner, $value, $global = null)
{
    static $known = null, $next = 0, $count = 0;
    if (++$count > 20000 && $number >= 0) {
        return false;
    }
    if (is_object($owner)) {
        // A number of its own: PHP uses an object's again for another one.
        $known = $known ?? new WeakMap();
        $owner = $known[$owner] = $known[$owner] ?? ++$next;
    }
    $values = [debugger_value($value), debugger_value($global)];
    $record = [$number, $owner, ...$values, debugger_stack(), $count > 20000, getmypid()];
    $flags = JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE;
    file_put_contents($path, json_encode($record, $flags) . "\n", FILE_APPEND | LOCK_EX);
    return false;
}

return true;
