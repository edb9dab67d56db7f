<?php
// Records a process: the calls, lines and values that the rewritten sources report.

// A call that goes on. It ends with the local variable that has it.
final class DebuggerCall
{
    public int $number = 0;
    public int $last = 0;
    public int $lines = 0;
    public bool $hasRecord = true;
    public bool $isOver = false;
    public bool $isReady = false;
    public ?array $texts = null;
    public ?DebuggerCall $caller = null;

    public function __construct(
        string $name, string $file, int $line, string $parameters, public string $class, public bool $hasEnd,
        array $names, ?object $receiver
    ) {
        DebuggerRecorder::enter($this, $name, $file, $line, $parameters, $names, $receiver);
    }

    public function __destruct()
    {
        if (!$this->isOver) {
            DebuggerRecorder::leave($this);
        }
    }

    // It is no value of the program.
    public function __serialize(): array
    {
        return [];
    }
}

final class DebuggerRecorder
{
    private const SKIPPED = '~/vendor/|/usr/share/php|^/usr/share/pear~';
    private const STACK = 8;
    private static array $order = [];
    private static ?DebuggerJournal $journal = null;
    private static ?DebuggerHistory $history = null;
    private static string $mode = '';
    private static int $pid = 0;
    private static int $began = 0;
    private static array $functions = [];
    private static array $files = [];
    private static array $counts = [];
    private static array $own = [];
    private static array $hitLines = [];
    private static array $stack = [];
    private static array $unwound = [];
    private static array $texts = [];
    private static array $lines = [];
    private static int $calls = 0;
    private static int $steps = 0;
    private static int $hits = 0;
    private static bool $isOver = true;

    public static function begin(array $order): void
    {
        self::$order = $order;
        self::$mode = $order['mode'];
        self::$began = hrtime(true);
        DebuggerText::$textMax = (int) $order['text'];
        DebuggerText::$itemsMax = (int) $order['items'];
        self::restart(false);
        DebuggerFiles::begin();
        // Behind the functions that the program registers.
        register_shutdown_function(fn() => register_shutdown_function(
            fn() => register_shutdown_function([self::class, 'finish'])
        ));
    }

    private static function restart(bool $isFork): void
    {
        $is_origin = self::$mode === 'origin';
        self::$pid = getmypid();
        self::$journal = new DebuggerJournal(self::$order['folder'], (int) self::$order['events'], $is_origin);
        self::$history = $is_origin ? new DebuggerHistory(self::$journal) : null;
        self::$functions = self::$counts = self::$hitLines = self::$stack = self::$unwound = [];
        self::$isOver = false;
        self::$journal->keep(['begin', [
            'pid' => self::$pid, 'parent' => function_exists('posix_getppid') ? posix_getppid() : 0,
            'language' => 'php', 'interpreter' => 'php ' . PHP_VERSION, 'words' => $GLOBALS['argv'] ?? [],
            'is_fork' => $isFork, 'time_ns' => (int) (microtime(true) * 1e9),
        ]]);
        self::$journal->keep(['t', 1, 'main']);
    }

    public static function isOwn(string $file): bool
    {
        return self::$own[$file] ??= self::belongs($file);
    }

    private static function belongs(string $file): bool
    {
        foreach (self::$order['root'] as $root) {
            if (strncmp($file, "$root/", strlen($root) + 1) === 0) {
                return strncmp($file, __DIR__, strlen(__DIR__)) !== 0
                    && !preg_match(self::SKIPPED, substr($file, strlen($root)));
            }
        }
        return false;
    }

    private static function now(): int
    {
        return hrtime(true) - self::$began;
    }

    private static function functionNumber(string $name, string $file, int $line): int
    {
        $key = "$file:$line:$name";
        if (!isset(self::$functions[$key])) {
            self::$functions[$key] = $number = count(self::$functions) + 1;
            self::$files[$number] = $file;
            self::$journal->keep(['f', $number, $name, $file, $line]);
        }
        return self::$functions[$key];
    }

    public static function enter(
        DebuggerCall $call, string $name, string $file, int $line, string $parameters, array $names, ?object $receiver
    ): void {
        if (self::$isOver) {
            return;
        }
        if (getmypid() !== self::$pid) {
            self::restart(true);
        }
        self::endCalls();
        self::endOldFiles();
        $caller = self::$stack ? end(self::$stack) : null;
        $function = self::functionNumber($name, $file, $line);
        $count = self::$counts[$function] = (self::$counts[$function] ?? 0) + 1;
        $call->number = ++self::$calls;
        $call->hasRecord = self::$history !== null || ($count <= (int) self::$order['each'] && !self::$journal->isFull());
        self::$stack[$call->number] = [$call->number, $function, WeakReference::create($call), $call->hasRecord, 0];
        if ($call->hasRecord) {
            $pairs = [];
            foreach (array_filter(explode(',', $parameters)) as $one) {
                if (array_key_exists($one, $names)) {
                    $pairs[] = self::$history !== null
                        ? ["\$$one", DebuggerText::format($names[$one]), self::$history->number($names[$one])]
                        : ["\$$one", DebuggerText::format($names[$one])];
                }
            }
            $parent = 0;
            foreach (self::$stack as [$number, , , $has_record]) {
                $parent = $has_record && $number !== $call->number ? $number : $parent;
            }
            $at = $caller === null ? 0 : $caller[4];
            self::$journal->add(['c', $call->number, $parent, $function, 1, self::now(), $at, $pairs]);
            if (self::$history !== null && $receiver !== null) {
                self::$journal->add(['o', $call->number, self::$history->number($receiver)]);
            }
        }
        if (self::$history !== null && self::isPlaceFunction($name)) {
            self::noteHit($call->number, $line, $names, $receiver);
        }
    }

    // The code of a file is a call, too, of what included it.
    private static function fileCall(string $file): int
    {
        foreach (array_reverse(self::$stack, true) as $number => $frame) {
            if ($frame[2] === null && self::$files[$frame[1]] === $file) {
                return $number;
            }
        }
        $caller = end(self::$stack);
        $function = self::functionNumber('<main>', $file, 1);
        self::$counts[$function] = 1;
        self::$stack[++self::$calls] = [self::$calls, $function, null, true, 0];
        $parent = $caller === false ? [0, 0] : [$caller[3] ? $caller[0] : 0, $caller[4]];
        self::$journal->add(['c', self::$calls, $parent[0], $function, 1, self::now(), $parent[1], []]);
        return self::$calls;
    }

    // The code of a file is over if a library calls the program's functions later.
    private static function endOldFiles(): void
    {
        while (($frame = end(self::$stack)) && $frame[2] === null) {
            $trace = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS);
            foreach ($trace as $at => $one) {
                $outer = $trace[$at + 1]['function'] ?? 'include';
                $is_code = in_array($outer, ['include', 'include_once', 'require', 'require_once'], true);
                if ($is_code && ($one['file'] ?? '') === self::$files[$frame[1]]) {
                    return;
                }
            }
            self::endFile($frame);
        }
    }

    private static function endFile(array $frame): void
    {
        unset(self::$stack[$frame[0]]);
        $extra = self::$history !== null ? [0, $frame[4]] : [];
        self::$journal->add(['r', $frame[0], self::now(), 'null', ...$extra]);
    }

    // Files that were included end where the one goes on that included them.
    private static function endFiles(int $number): void
    {
        while (($frame = end(self::$stack)) && $frame[0] !== $number && $frame[2] === null) {
            self::endFile($frame);
        }
    }

    private static function isPlaceFunction(string $name): bool
    {
        $place = self::$order['function'];
        $ends = ["->$place", "::$place", "\\$place"];
        return $place !== '' && ($name === $place || array_filter($ends, fn($one) => str_ends_with($name, $one)));
    }

    // Before a statement; line 0 is a function's end.
    public static function step(int $line, array $names, ?object $receiver, ?string $file = null): void
    {
        if (self::$isOver) {
            return;
        }
        self::endCalls();
        $call = $file === null ? $names['debugger_call'] ?? null : null;
        unset($names['debugger_call'], $names['GLOBALS'], $names['argv'], $names['argc']);
        $number = $call instanceof DebuggerCall ? $call->number : self::fileCall((string) $file);
        if (!isset(self::$stack[$number])) {
            return;
        }
        self::endFiles($number);
        if ($call === null) {
            $names = array_diff_key($names, ['_SERVER' => 1, '_GET' => 1, '_POST' => 1, '_COOKIE' => 1, '_FILES' => 1,
                '_ENV' => 1, '_REQUEST' => 1, '_SESSION' => 1]);
        }
        $frame = &self::$stack[$number];
        switch (self::$mode) {
            case 'origin':
                try {
                    self::$history->compare("L$number", $names, $receiver, $call->class ?? '', self::$steps);
                } catch (Throwable $error) {
                    self::$journal->keep(['n', 'fault', 0, $error->getMessage()]); // not the program's
                }
                if ($line > 0) {
                    self::$journal->add(['p', $number, ++self::$steps, $line]);
                    self::checkPlace($number, $line, $names, $receiver);
                }
                break;
            case 'hit':
                if ($line > 0) {
                    self::$hitLines[$frame[1]][$line] ??= self::now();
                }
                break;
            case 'each':
                self::passLine($frame, $line, $names);
                break;
        }
        if ($line > 0) {
            $frame[4] = $line;
        }
    }

    private static function passLine(array $frame, int $line, array $names): void
    {
        [$number, , , $has_record, $last] = $frame;
        if (!$has_record) {
            return;
        }
        $texts = [];
        foreach ($names as $name => $value) {
            $texts["\$$name"] = DebuggerText::format($value);
        }
        $changed = array_diff_assoc($texts, self::$texts[$number] ?? []);
        self::$texts[$number] = $texts;
        $count = self::$lines[$number] = (self::$lines[$number] ?? 0) + 1;
        if ($count > (int) self::$order['lines']) {
            if ($count === (int) self::$order['lines'] + 1) {
                self::$journal->add(['s', $number, 1]);
            }
            return;
        }
        if ($changed && $last > 0) {
            $pairs = array_map(fn($name, $text) => [$name, $text], array_keys($changed), $changed);
            self::$journal->add(['v', $number, $pairs]);
        }
        if ($line > 0) {
            self::$journal->add(['p', $number, self::now(), $line]);
        }
    }

    private static function checkPlace(int $number, int $line, array $names, ?object $receiver): void
    {
        if ($line === (int) self::$order['line'] && self::$files[self::$stack[$number][1]] === self::$order['file']) {
            self::noteHit($number, $line, $names, $receiver);
        }
    }

    private static function evaluate(string $code, array $names, ?object $receiver)
    {
        // Without variables of its own, which the program's could replace.
        $run = function () {
            extract(func_get_arg(1));
            return eval('return ' . func_get_arg(0) . ';');
        };
        $run = $receiver === null ? $run : Closure::bind($run, $receiver, get_class($receiver));
        // A variable that is not there is an error; what else PHP warns of is null.
        set_error_handler(function (int $level, string $text): bool {
            if (strncmp($text, 'Undefined variable', 18) === 0) {
                throw new ErrorException($text);
            }
            return true;
        });
        try {
            return $run($code, $names);
        } finally {
            restore_error_handler();
        }
    }

    private static function noteHit(int $number, int $line, array $names, ?object $receiver): void
    {
        $when = self::$order['when'];
        self::$isOver = true; // what is evaluated is not recorded
        try {
            if ($when !== '' && !self::evaluate($when, $names, $receiver)) {
                return;
            }
            self::$hits++;
            $nth = (int) self::$order['nth'];
            if ($nth > 0 && self::$hits !== $nth) {
                return;
            }
            try {
                $value = self::evaluate(self::$order['expression'], $names, $receiver);
                $result = [DebuggerText::format($value), self::$history->number($value), null];
            } catch (Throwable $error) {
                $result = [null, 0, get_class($error) . ': ' . $error->getMessage()];
            }
            $callers = [];
            foreach (array_reverse(self::$stack) as [, $function, , , $last]) {
                $callers[] = [$function, $callers === [] ? $line : $last];
            }
            self::$journal->add(['L', self::$hits, $number, $result, array_slice($callers, 0, self::STACK)]);
            if ($nth > 0) {
                self::$isOver = false;
                self::finish();
                return;
            }
        } catch (Throwable $error) {
            self::$journal->keep(['n', 'condition', 0, get_class($error) . ': ' . $error->getMessage()]);
        } finally {
            self::$isOver = self::$isOver && self::$journal === null;
        }
    }

    public static function result($value, array $names, ?object $receiver)
    {
        $call = $names['debugger_call'] ?? null;
        if (!self::$isOver && $call instanceof DebuggerCall && isset(self::$stack[$call->number])) {
            self::step(0, $names, $receiver);
            if ($call->hasRecord) {
                $last = self::$stack[$call->number][4];
                $extra = self::$history !== null ? [self::$history->number($value), $last] : [];
                self::$journal->add(['r', $call->number, self::now(), DebuggerText::format($value), ...$extra]);
            }
            $call->isReady = true;
        }
        return $value;
    }

    // The variables of an arrow function, with its call as other functions have it.
    public static function arrowNames(DebuggerCall $call, string $name, array $names): array
    {
        unset($names[$name]);
        return ['debugger_call' => $call] + $names;
    }

    public static function done(): void
    {
        if (!self::$isOver && self::$stack) {
            $frame = end(self::$stack);
            $call = $frame[2]?->get();
            if ($call !== null && !$call->isReady) {
                $call->isReady = true;
                if ($call->hasRecord) {
                    $extra = self::$history !== null ? [0, $frame[4]] : [];
                    self::$journal->add(['r', $call->number, self::now(), 'null', ...$extra]);
                }
            }
        }
    }

    // A call's variables are gone: it returned, or an exception left it.
    public static function leave(DebuggerCall $call): void
    {
        $call->isOver = true;
        if (self::$isOver || !isset(self::$stack[$call->number])) {
            return;
        }
        $frame = self::$stack[$call->number];
        unset(self::$stack[$call->number], self::$texts[$call->number], self::$lines[$call->number]);
        if ($call->isReady || !$call->hasRecord) {
            return;
        }
        if ($call->hasEnd) {
            self::$unwound[] = [$call->number, $frame[4]];
        } else {
            self::$journal->add(['r', $call->number, self::now(), '', ...(self::$history !== null ? [0, $frame[4]] : [])]);
        }
    }

    public static function caught(Throwable $error): void
    {
        self::endCalls($error);
    }

    // Records the exception that left calls; its type is known where it is caught.
    private static function endCalls(?Throwable $error = null): void
    {
        foreach (self::$unwound as [$number, $line]) {
            $type = $error === null ? 'exception' : get_class($error);
            $text = $error === null ? '' : strtok($error->getMessage() . "\n", "\n");
            self::$journal->add(['x', $number, self::now(), $type, (string) $text, $line]);
        }
        self::$unwound = [];
    }

    public static function endByError(Throwable $error): void
    {
        if (self::$isOver) {
            return;
        }
        self::endCalls($error);
        foreach (array_reverse(self::$stack) as [$number, , , $has_record, $line]) {
            if ($has_record) {
                self::$unwound[] = [$number, $line];
            }
        }
        self::$stack = [];
        self::endCalls($error);
    }

    public static function finish(): void
    {
        if (self::$isOver) {
            return;
        }
        self::endCalls();
        self::endFiles(0);
        self::$isOver = true;
        DebuggerFiles::end();
        $ends = [];
        foreach (self::$hitLines as $function => $lines) {
            $ends[] = ['h', $function, array_keys($lines), array_values($lines)];
        }
        $most = (int) self::$order['each'];
        foreach (self::$counts as $function => $count) {
            if (self::$history === null && $count > $most) {
                array_push($ends, ['k', $function, 0], ['K', $function, $count - $most]);
            }
        }
        $total = array_sum(self::$counts);
        $ends[] = ['end', self::now(), self::$journal->dropped, $total, $total];
        self::$journal->write($ends);
        self::$journal = null;
        DebuggerFiles::begin();
    }
}
