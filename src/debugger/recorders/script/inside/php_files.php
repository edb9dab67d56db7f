<?php
// Reads the program's files for PHP: those of its own code get calls of the recorder.

final class DebuggerFiles
{
    public $context;
    private $file;
    private $folder;

    public static function begin(): void
    {
        stream_wrapper_unregister('file');
        stream_wrapper_register('file', self::class);
    }

    public static function end(): void
    {
        @stream_wrapper_restore('file');
    }

    // Does something with the files as they are.
    private static function plainly(callable $do)
    {
        self::end();
        try {
            return $do();
        } finally {
            self::begin();
        }
    }

    private function open(string $path, string $mode, bool $usesPath)
    {
        return $this->context ? fopen($path, $mode, $usesPath, $this->context) : fopen($path, $mode, $usesPath);
    }

    public function stream_open(string $path, string $mode, int $options, ?string &$opened): bool
    {
        $is_quiet = !($options & STREAM_REPORT_ERRORS);
        $uses_path = (bool) ($options & STREAM_USE_PATH);
        return self::plainly(function () use ($path, $mode, $options, $is_quiet, $uses_path, &$opened) {
            $this->file = $is_quiet ? @$this->open($path, $mode, $uses_path) : $this->open($path, $mode, $uses_path);
            if ($this->file === false) {
                return false;
            }
            $opened = realpath(stream_get_meta_data($this->file)['uri']) ?: $path;
            // What is included is opened with this option (STREAM_OPEN_FOR_INCLUDE).
            if (($options & 128) && DebuggerRecorder::isOwn($opened)) {
                $code = DebuggerRewriter::rewrite(self::withoutShebang(stream_get_contents($this->file)));
                fclose($this->file);
                $this->file = fopen('php://memory', 'r+');
                fwrite($this->file, $code);
                rewind($this->file);
            }
            return true;
        });
    }

    // PHP leaves the line `#!…` out of the file of its command line only; the lines keep their numbers.
    private static function withoutShebang(string $code): string
    {
        $code = preg_replace('/\A#!.*\r?\n<\?php\b/', "<?php\n", $code);
        return preg_replace('/\A#!.*/', '<?php ?>', $code);
    }

    public function stream_read(int $count)
    {
        return fread($this->file, $count);
    }

    public function stream_write(string $data)
    {
        return fwrite($this->file, $data);
    }

    public function stream_close(): void
    {
        fclose($this->file);
    }

    public function stream_eof(): bool
    {
        return feof($this->file);
    }

    public function stream_flush(): bool
    {
        return fflush($this->file);
    }

    public function stream_lock(int $operation): bool
    {
        return $operation === 0 || flock($this->file, $operation);
    }

    public function stream_seek(int $offset, int $whence = SEEK_SET): bool
    {
        return fseek($this->file, $offset, $whence) === 0;
    }

    public function stream_tell()
    {
        return ftell($this->file);
    }

    public function stream_stat()
    {
        return fstat($this->file);
    }

    public function stream_truncate(int $size): bool
    {
        return ftruncate($this->file, $size);
    }

    public function stream_cast(int $as)
    {
        return $this->file;
    }

    public function stream_set_option(int $option, int $first, ?int $second): bool
    {
        return match ($option) {
            STREAM_OPTION_BLOCKING => stream_set_blocking($this->file, (bool) $first),
            STREAM_OPTION_READ_TIMEOUT => stream_set_timeout($this->file, $first, (int) $second),
            default => false,
        };
    }

    public function stream_metadata(string $path, int $option, $value): bool
    {
        return self::plainly(fn() => match ($option) {
            STREAM_META_TOUCH => $value === [] ? touch($path) : touch($path, ...$value),
            STREAM_META_OWNER, STREAM_META_OWNER_NAME => chown($path, $value),
            STREAM_META_GROUP, STREAM_META_GROUP_NAME => chgrp($path, $value),
            STREAM_META_ACCESS => chmod($path, $value),
            default => false,
        });
    }

    public function url_stat(string $path, int $flags)
    {
        return self::plainly(function () use ($path, $flags) {
            if ($flags & STREAM_URL_STAT_QUIET) {
                return @($flags & STREAM_URL_STAT_LINK ? lstat($path) : stat($path));
            }
            return $flags & STREAM_URL_STAT_LINK ? lstat($path) : stat($path);
        });
    }

    public function unlink(string $path): bool
    {
        return self::plainly(fn() => unlink($path));
    }

    public function rename(string $from, string $to): bool
    {
        return self::plainly(fn() => rename($from, $to));
    }

    public function mkdir(string $path, int $mode, int $options): bool
    {
        return self::plainly(fn() => mkdir($path, $mode, (bool) ($options & STREAM_MKDIR_RECURSIVE)));
    }

    public function rmdir(string $path, int $options): bool
    {
        return self::plainly(fn() => rmdir($path));
    }

    public function dir_opendir(string $path, int $options): bool
    {
        $this->folder = self::plainly(fn() => opendir($path));
        return $this->folder !== false;
    }

    public function dir_readdir()
    {
        return readdir($this->folder);
    }

    public function dir_closedir(): bool
    {
        closedir($this->folder);
        return true;
    }

    public function dir_rewinddir(): bool
    {
        rewinddir($this->folder);
        return true;
    }
}
