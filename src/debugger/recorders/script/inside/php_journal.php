<?php
// The records of one process: those of its end are kept, or those of its beginning.

final class DebuggerJournal
{
    private array $lasting = [];
    private array $before = [];
    private array $records = [];
    public int $dropped = 0;

    public function __construct(private string $folder, private int $most, private bool $isLast)
    {
    }

    // A record that is kept in any case.
    public function keep(array $record): void
    {
        $this->lasting[] = self::encode($record);
    }

    public function add(array $record): void
    {
        if (count($this->records) >= $this->most) {
            if (!$this->isLast) {
                $this->dropped++;
                return;
            }
            $this->dropped += count($this->before);
            $this->before = $this->records;
            $this->records = [];
        }
        $this->records[] = self::encode($record);
    }

    public function isFull(): bool
    {
        return !$this->isLast && count($this->records) >= $this->most;
    }

    public function write(array $ends): void
    {
        $file = @fopen($this->folder . '/' . getmypid() . '.jsonl', 'w');
        if ($file === false) {
            return;
        }
        foreach ([$this->lasting, $this->before, $this->records, array_map([self::class, 'encode'], $ends)] as $some) {
            foreach ($some as $line) {
                fwrite($file, $line . "\n");
            }
        }
        fclose($file);
    }

    private static function encode(array $record): string
    {
        $flags = JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES;
        return (string) json_encode($record, $flags | JSON_PARTIAL_OUTPUT_ON_ERROR);
    }
}
