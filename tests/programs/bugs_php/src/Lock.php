<?php
// A lock between processes: a file.

class Lock
{
    /** @var resource */
    private $file;

    public function __construct(private string $path)
    {
        $this->file = fopen($path, 'c');
    }

    public function run(callable $work): mixed
    {
        flock($this->file, LOCK_EX); // @lock
        try {
            return $work();
        } finally {
            flock($this->file, LOCK_UN);
        }
    }
}
