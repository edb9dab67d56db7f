<?php
// Records each change of the locals and the object of a call, and of what can be reached from them.
// An owner is a call (`L3`: its locals), an object (`O5`) or a class (`SCart`).

final class DebuggerHistory
{
    private const DEPTH = 3;     // of objects in objects
    private const OBJECTS = 60;  // that are compared at one statement
    private const LEAVES = 300;  // of an array that are recorded at one change

    private array $known = [];
    private array $scanned = [];
    private WeakMap $numbers;
    private int $next = 0;
    private array $classes = [];
    private array $seen = [];
    private int $leaves = 0;

    public function __construct(private DebuggerJournal $journal)
    {
        $this->numbers = new WeakMap();
    }

    // The number of an object; 0 of any other value.
    public function number($value): int
    {
        return is_object($value) ? $this->numbers[$value] ??= ++$this->next : 0;
    }

    // Compares what is reachable with what it was; the changes belong to the statement before.
    public function compare(string $owner, array $names, ?object $receiver, string $class, int $at): void
    {
        $this->seen = [];
        $this->comparePairs($owner, $names, '$', $at);
        if ($class !== '') {
            $this->compareClass($class, $at);
        }
        if ($receiver !== null) {
            $this->compareObject($receiver, self::DEPTH, $at);
        }
        $this->compareReachable($names, self::DEPTH, $at);
    }

    private function compareReachable(array $values, int $depth, int $at): void
    {
        foreach ($values as $value) {
            if (is_object($value)) {
                $this->compareObject($value, $depth, $at);
            } elseif (is_array($value) && $depth > 1 && count($value) < self::LEAVES) {
                $this->compareReachable($value, $depth - 1, $at);
            }
        }
    }

    private function compareObject(object $value, int $depth, int $at): void
    {
        $number = $this->number($value);
        if ($depth === 0 || isset($this->seen[$number]) || count($this->seen) >= self::OBJECTS
            || $value instanceof Closure || $value instanceof UnitEnum || $value instanceof DebuggerCall) {
            return;
        }
        $this->seen[$number] = true;
        $parts = DebuggerText::parts($value);
        $this->comparePairs("O$number", $parts, '->', $at);
        $this->compareReachable($parts, $depth - 1, $at);
    }

    private function compareClass(string $class, int $at): void
    {
        $known = $this->classes[$class] ??= new ReflectionClass($class);
        $parts = $known->getStaticProperties() ?? [];
        if ($parts !== []) {
            $this->comparePairs("S$class", $parts, '::$', $at);
        }
    }

    private function comparePairs(string $owner, array $pairs, string $sign, int $at): void
    {
        $is_first = !isset($this->known[$owner]);
        $before = $is_first ? -1 : $this->scanned[$owner];
        $this->scanned[$owner] = $at;
        $old = $this->known[$owner] ??= [];
        foreach ($pairs as $name => $value) {
            $is_known = array_key_exists($name, $old);
            if ($is_known && $old[$name] === $value) {
                continue;
            }
            if ($is_known && is_float($value) && is_float($old[$name]) && is_nan($value) && is_nan($old[$name])) {
                continue;
            }
            // Without references to variables of the program, with which it would change.
            $this->known[$owner][$name] = is_array($value) ? DebuggerText::copied($value) : $value;
            $this->leaves = 0;
            $this->write($owner, [$sign . $name], $old[$name] ?? null, $value, $is_known, $before);
        }
        foreach (array_diff_key($old, $pairs) as $name => $value) {
            $this->journal->add(['w', $owner, [$sign . $name], null, 0, DebuggerText::format($value), $before]);
            unset($this->known[$owner][$name]);
        }
    }

    private function write(string $owner, array $path, $old, $value, bool $is_known, int $before): void
    {
        $was = $is_known ? DebuggerText::format($old) : null;
        $this->journal->add(['w', $owner, $path, DebuggerText::format($value), $this->number($value), $was, $before]);
        if (!is_array($value) || count($path) > 4) {
            return;
        }
        $old = is_array($old) ? $old : [];
        foreach ($value as $key => $part) {
            $is_there = array_key_exists($key, $old);
            if (($is_there && $old[$key] === $part) || ++$this->leaves > self::LEAVES) {
                continue;
            }
            $this->write($owner, [...$path, self::key($key)], $old[$key] ?? null, $part, $is_there, $before);
        }
        foreach (array_diff_key($old, $value) as $key => $part) {
            if (++$this->leaves <= self::LEAVES) {
                $text = DebuggerText::format($part);
                $this->journal->add(['w', $owner, [...$path, self::key($key)], null, 0, $text, $before]);
            }
        }
    }

    private static function key($key): string
    {
        return is_int($key) ? "[$key]" : '[' . DebuggerText::format($key) . ']';
    }
}
