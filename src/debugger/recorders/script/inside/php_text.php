<?php
// Formats values as the adapter does, without the program's own code.

final class DebuggerText
{
    public static int $textMax = 120;
    public static int $itemsMax = 6;

    public static function format($value, int $depth = 2): string
    {
        $text = self::formatWhole($value, $depth);
        return strlen($text) > self::$textMax ? self::cut($text) . '…' : $text;
    }

    private static function formatWhole($value, int $depth): string
    {
        if (is_string($value)) {
            $escapes = ["\\" => "\\\\", "'" => "\\'", "\n" => "\\n", "\r" => "\\r", "\t" => "\\t"];
            $is_long = strlen($value) > self::$textMax;
            $text = $is_long ? self::cut($value) : $value;
            return "'" . self::showBytes(strtr($text, $escapes)) . "'" . ($is_long ? '…' : '');
        }
        if (is_float($value)) {
            return is_finite($value) ? json_encode($value, JSON_PRESERVE_ZERO_FRACTION) : (string) $value;
        }
        if (is_resource($value)) {
            return 'resource(' . get_resource_type($value) . ')';
        }
        if (!is_array($value) && !is_object($value)) {
            return $value === null ? 'null' : var_export($value, true);
        }
        if ($value instanceof UnitEnum) {
            return get_class($value) . '::' . $value->name;
        }
        return is_array($value) ? self::formatArray($value, $depth) : self::formatObject($value, $depth);
    }

    private static function formatArray(array $value, int $depth): string
    {
        if ($depth === 0) {
            return $value === [] ? '[]' : '[…]';
        }
        $is_list = array_values($value) === $value;
        $texts = [];
        foreach ($value as $key => $part) {
            if (count($texts) >= self::$itemsMax) {
                $texts[] = '…';
                break;
            }
            $text = self::format($part, $depth - 1);
            $texts[] = $is_list ? $text : (is_int($key) ? $key : "'$key'") . " => $text";
        }
        return '[' . implode(', ', $texts) . ']';
    }

    private static function formatObject(object $value, int $depth): string
    {
        if ($depth < 2) {
            return get_class($value) . ' {…}';
        }
        $texts = [];
        foreach (self::parts($value) as $name => $part) {
            if (count($texts) >= self::$itemsMax) {
                $texts[] = '…';
                break;
            }
            $texts[] = "$name: " . self::format($part, $depth - 1);
        }
        return get_class($value) . ' {' . implode(', ', $texts) . '}';
    }

    // The properties of an object by their names, whoever may see them.
    public static function parts(object $value): array
    {
        $found = [];
        $parts = $value instanceof ArrayObject || $value instanceof ArrayIterator
            ? $value->getArrayCopy() : (array) $value;
        foreach ($parts as $key => $part) {
            $at = strrpos((string) $key, "\0");
            $found[$at === false ? $key : substr($key, $at + 1)] = $part;
        }
        return $found;
    }

    // A copy in which no element is a reference.
    public static function copied(array $pairs, int $depth = 5): array
    {
        $found = [];
        foreach ($pairs as $key => $value) {
            $found[$key] = is_array($value) && $depth > 0 && self::hasReference($value)
                ? self::copied($value, $depth - 1) : $value;
        }
        return $found;
    }

    private static function hasReference(array $value, int $depth = 4): bool
    {
        foreach ($value as $key => $part) {
            if (ReflectionReference::fromArrayElement($value, $key) !== null) {
                return true;
            }
            if (is_array($part) && $depth > 0 && self::hasReference($part, $depth - 1)) {
                return true;
            }
        }
        return false;
    }

    // A byte that is no UTF-8 as `\xNN`: JSON has none.
    private static function showBytes(string $text): string
    {
        if (preg_match('//u', $text)) {
            return $text;
        }
        $character = '[\x00-\x7F]|[\xC2-\xDF][\x80-\xBF]|\xE0[\xA0-\xBF][\x80-\xBF]|\xED[\x80-\x9F][\x80-\xBF]'
            . '|[\xE1-\xEC\xEE\xEF][\x80-\xBF]{2}|\xF0[\x90-\xBF][\x80-\xBF]{2}|[\xF1-\xF3][\x80-\xBF]{3}'
            . '|\xF4[\x80-\x8F][\x80-\xBF]{2}';
        $show = static fn(array $found): string => isset($found[1]) ? sprintf('\x%02x', ord($found[1])) : $found[0];
        return preg_replace_callback("/(?:$character)|(.)/s", $show, $text) ?? $text;
    }

    private static function cut(string $text): string
    {
        $cut = substr($text, 0, self::$textMax);
        // Not within a character of UTF-8.
        return preg_replace('/[\xC0-\xFF][\x80-\xBF]{0,2}$/', '', $cut) ?? $cut;
    }
}
