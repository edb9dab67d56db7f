<?php
// Adds calls of the recorder to a PHP source, without moving a line: before each statement, at the
// beginning and the end of each function, and around what is returned.

final class DebuggerRewriter
{
    private const HERE = 'get_defined_vars(), isset($this) ? $this : null';
    // Statements that declare, or that must be first in a file.
    private const DECLARING = [T_NAMESPACE, T_USE, T_CONST, T_CLASS, T_ABSTRACT, T_FINAL, T_READONLY, T_INTERFACE,
        T_TRAIT, T_ENUM, T_DECLARE, T_INLINE_HTML, T_CLOSE_TAG, T_OPEN_TAG, T_OPEN_TAG_WITH_ECHO];

    private array $tokens;
    private int $at = 0;
    // What is put before and behind a token, by its position.
    private array $before = [];
    private array $after = [];
    private string $namespace = '';
    private array $classes = [];
    private array $functions = [];
    private int $lambdas = 0;
    private int $arrows = 0;

    public static function rewrite(string $code): string
    {
        if (stripos($code, '__halt_compiler') !== false) {
            return $code; // its data has an offset
        }
        try {
            $rewriter = new self();
            $rewriter->tokens = PhpToken::tokenize($code);
            $rewriter->passStatements(null);
            $text = '';
            foreach ($rewriter->tokens as $at => $token) {
                $text .= ($rewriter->before[$at] ?? '') . $token->text . ($rewriter->after[$at] ?? '');
            }
            return $text;
        } catch (Throwable $error) {
            return $code;
        }
    }

    private function token(): ?PhpToken
    {
        return $this->tokens[$this->at] ?? null;
    }

    private function skipBlank(): ?PhpToken
    {
        while (($token = $this->token()) && $token->isIgnorable() && $token->id !== T_OPEN_TAG) {
            $this->at++;
        }
        return $token;
    }

    // The token behind blanks and comments, without going there.
    private function peek(int $from): ?PhpToken
    {
        while (isset($this->tokens[$from]) && $this->tokens[$from]->isIgnorable()) {
            $from++;
        }
        return $this->tokens[$from] ?? null;
    }

    private function passStatements(?array $ends): void
    {
        while ($token = $this->skipBlank()) {
            if ($ends !== null && $token->is($ends)) {
                return;
            }
            $before = $this->at;
            $this->passStatement(true);
            if ($this->at === $before) {
                $this->at++;
            }
        }
        if ($ends !== null) {
            throw new LogicException('it ends too early');
        }
    }

    private function isDeclaration(PhpToken $token): bool
    {
        if ($token->is(self::DECLARING)) {
            return true;
        }
        if ($token->is(T_FUNCTION)) {
            $next = $this->peek($this->at + 1);
            return $next !== null && ($next->is(T_STRING) || ($next->text === '&' && $this->namesFunction()));
        }
        // A label, and what is no statement of its own.
        return $token->is([';', '}']) || ($token->is(T_STRING) && $this->peek($this->at + 1)?->text === ':');
    }

    private function namesFunction(): bool
    {
        $next = $this->at + 1;
        while ($this->tokens[$next]->isIgnorable() || $this->tokens[$next]->text === '&') {
            $next++;
        }
        return $this->tokens[$next]->is(T_STRING);
    }

    // One statement. In a list a call is put before it; a single one, as behind `if (…)`, gets braces.
    private function passStatement(bool $inList): void
    {
        while ($this->skipBlank()->is(T_ATTRIBUTE)) {
            $this->at++;
            $this->passUntil([']']);
            $this->at++;
        }
        $token = $this->token();
        if ($token->is('{')) {
            $this->passBlock();
            return;
        }
        $is_declaration = $this->isDeclaration($token);
        $first = $this->at;
        if (!$is_declaration) {
            $call = "\\DebuggerRecorder::step({$token->line}, " . self::HERE
                . ($this->functions ? '); ' : ', __FILE__); ');
            if ($token->is(T_RETURN) && ($this->functions ? end($this->functions)['by_value'] : false)) {
                $call .= $this->peek($this->at + 1)?->text === ';' ? '\DebuggerRecorder::done(); ' : '';
            }
            $this->before[$first] = ($inList ? '' : '{ ') . $call;
        }
        $this->passWhole($token, $first);
        if (!$is_declaration && !$inList) {
            $last = $this->at - 1;
            if ($this->tokens[$last]->is(T_CLOSE_TAG)) {
                $this->before[$last] = '; } ' . ($this->before[$last] ?? '');
            } else {
                $this->after[$last] = ($this->after[$last] ?? '') . ' }';
            }
        }
    }

    private function passWhole(PhpToken $token, int $first): void
    {
        switch ($token->id) {
            case T_IF:
                $this->passIf();
                return;
            case T_FOR:
            case T_FOREACH:
            case T_WHILE:
                $ends = [T_FOR => T_ENDFOR, T_FOREACH => T_ENDFOREACH, T_WHILE => T_ENDWHILE];
                $this->at++;
                $this->passParentheses();
                $this->passBody([$ends[$token->id]]);
                return;
            case T_SWITCH:
                $this->at++;
                $this->passParentheses();
                $this->passSwitch();
                return;
            case T_DO:
                $this->at++;
                $this->passStatement(false);
                $this->passExpression();
                return;
            case T_TRY:
                $this->passTry();
                return;
            case T_DECLARE:
                $this->at++;
                $this->passParentheses();
                $this->skipBlank()->is('{') ? $this->passBlock() : $this->passExpression();
                return;
            case T_NAMESPACE:
                $this->passNamespace();
                return;
            case T_FUNCTION:
                if ($this->isDeclaration($token)) {
                    $this->passFunction(false);
                    return;
                }
                break;
            case T_CLASS:
            case T_ABSTRACT:
            case T_FINAL:
            case T_READONLY:
            case T_INTERFACE:
            case T_TRAIT:
            case T_ENUM:
                $this->passClass();
                return;
            case T_USE:
                while (!$this->token()->is([';', T_CLOSE_TAG])) {
                    $this->at++;
                }
                $this->at++;
                return;
            case T_INLINE_HTML:
            case T_CLOSE_TAG:
            case T_OPEN_TAG:
                $this->at++;
                return;
        }
        if ($token->is(T_STRING) && $this->peek($first + 1)?->text === ':') {
            $this->at++;
            $this->skipBlank();
            $this->at++;
            return;
        }
        $this->passExpression();
    }

    private function passBlock(): void
    {
        $this->at++;
        $this->passStatements(['}']);
        $this->at++;
    }

    // A loop's or a branch's body: a block, what ends with `endif`, or a single statement.
    private function passBody(array $ends): void
    {
        $token = $this->skipBlank();
        if ($token->is('{')) {
            $this->passBlock();
        } elseif ($token->is(':')) {
            $this->at++;
            $this->passStatements($ends);
            if (!$this->token()->is([T_ELSE, T_ELSEIF])) {
                $this->passExpression();
            }
        } elseif ($token->is([';', T_CLOSE_TAG])) {
            $this->at++;
        } else {
            $this->passStatement(false);
        }
    }

    private function passIf(): void
    {
        $ends = [T_ELSE, T_ELSEIF, T_ENDIF];
        $this->at++;
        $this->passParentheses();
        $this->passBody($ends);
        while (($next = $this->peek($this->at)) && $next->is([T_ELSE, T_ELSEIF])) {
            $this->skipBlank();
            $this->at++;
            if ($next->is(T_ELSEIF)) {
                $this->passParentheses();
            }
            $this->passBody($ends);
        }
    }

    private function passSwitch(): void
    {
        $token = $this->skipBlank();
        $ends = $token->is('{') ? ['}'] : [T_ENDSWITCH];
        $this->at++;
        while (($token = $this->skipBlank()) && !$token->is($ends)) {
            $this->at++;
            if ($token->is([T_CASE, T_DEFAULT])) {
                $this->passUntil([':', ';']);
                $this->at++;
                $this->passStatements([T_CASE, T_DEFAULT, ...$ends]);
            }
        }
        $ends === ['}'] ? $this->at++ : $this->passExpression();
    }

    private function passTry(): void
    {
        $this->at++;
        $this->skipBlank();
        $this->passBlock();
        while (($next = $this->peek($this->at)) && $next->is([T_CATCH, T_FINALLY])) {
            $this->skipBlank();
            $this->at++;
            $name = null;
            if ($next->is(T_CATCH)) {
                $from = $this->at;
                $this->passParentheses();
                for ($at = $from; $at < $this->at; $at++) {
                    $name = $this->tokens[$at]->is(T_VARIABLE) ? $this->tokens[$at]->text : $name;
                }
            }
            $this->skipBlank();
            $open = $this->at;
            $caught = $name === null ? '' : " \\DebuggerRecorder::caught($name);";
            $this->passBlock();
            $this->after[$open] = $caught;
        }
    }

    private function passNamespace(): void
    {
        $this->at++;
        $name = '';
        while (($token = $this->token()) && !$token->is([';', '{'])) {
            $name .= $token->isIgnorable() ? '' : $token->text;
            $this->at++;
        }
        $this->namespace = $name === '' ? '' : "$name\\";
        $token->is('{') ? $this->passBlock() : $this->at++;
    }

    private function passClass(): void
    {
        $name = 'class@anonymous';
        while (!($token = $this->token())->is('{')) {
            if ($token->is([T_CLASS, T_INTERFACE, T_TRAIT, T_ENUM]) && $this->peek($this->at + 1)->is(T_STRING)) {
                $name = $this->namespace . $this->peek($this->at + 1)->text;
            }
            if ($token->is('(')) {
                $this->passParentheses();
                continue;
            }
            $this->at++;
        }
        $this->at++;
        $this->classes[] = $name;
        $is_static = false;
        while (!($token = $this->skipBlank())->is('}')) {
            $is_static = $token->is(T_STATIC) || ($is_static && !$token->is(';'));
            if ($token->is(T_FUNCTION)) {
                $this->passFunction($is_static);
                $is_static = false;
            } elseif ($token->is('{')) {
                // What a `use` of a trait resolves.
                $this->passUntil(['}']);
                $this->at++;
            } else {
                $this->at++;
            }
        }
        array_pop($this->classes);
        $this->at++;
    }

    // A function with its body; `{closure}` has no name.
    private function passFunction(bool $isStatic): void
    {
        $line = $this->token()->line;
        $this->at++;
        $by_value = true;
        $name = '';
        while (!($token = $this->token())->is('(')) {
            $by_value = $by_value && $token->text !== '&';
            $name .= $token->isIgnorable() || $token->text === '&' ? '' : $token->text;
            $this->at++;
        }
        $first = $this->at;
        $this->passParentheses();
        $parameters = $this->parameterNames($first, $this->at);
        while (($token = $this->token()) && !$token->is(['{', ';'])) {
            $token->is('(') ? $this->passParentheses() : $this->at++;
        }
        if ($token->is(';')) {
            $this->at++;
            return;
        }
        $is_method = $name !== '' && $this->classes && !$this->functions;
        $full = $name === '' ? '{closure}' : $this->namespace . $name;
        if ($is_method) {
            $full = end($this->classes) . ($isStatic ? '::' : '->') . $name;
        }
        $this->functions[] = ['by_value' => $by_value && !$this->yields($this->at)];
        $open = $this->at;
        $outer = $this->classes;
        $this->classes = $name === '' ? $this->classes : [];
        $this->at++;
        $this->passStatements(['}']);
        $this->classes = $outer;
        $close = $this->at++;
        $function = array_pop($this->functions);
        $class = $this->classes ? '__CLASS__' : "''";
        $this->after[$open] = " \$debugger_call = new \\DebuggerCall(" . var_export($full, true) . ", __FILE__, $line, " .
            var_export($parameters, true) . ", $class, " . var_export($function['by_value'], true) . ', ' . self::HERE . ');';
        if ($function['by_value']) {
            $end = '); \DebuggerRecorder::done(); ';
            $this->before[$close] = ($this->before[$close] ?? '') . '\DebuggerRecorder::step(0, ' . self::HERE . $end;
        }
    }

    // A function of one expression: its call begins before that, and ends with its value.
    private function passArrow(array $ends): void
    {
        $line = $this->token()->line;
        $this->at++;
        $by_value = true;
        while (!($token = $this->token())->is('(')) {
            $by_value = $by_value && $token->text !== '&';
            $this->at++;
        }
        $first = $this->at;
        $this->passParentheses();
        $parameters = $this->parameterNames($first, $this->at);
        while (!($token = $this->token())->is(T_DOUBLE_ARROW)) {
            $token->is('(') ? $this->passParentheses() : $this->at++;
        }
        $arrow = $this->at++;
        $body = $this->skipBlank();
        $open = $this->at;
        $this->passUntil([...$ends, ',', ')', ']', '}', ';', ':', T_CLOSE_TAG]);
        for ($end = $this->at - 1; $this->tokens[$end]->isIgnorable(); $end--);
        $has_yield = false;
        for ($at = $open; $at <= $end; $at++) {
            $has_yield = $has_yield || $this->tokens[$at]->is([T_YIELD, T_YIELD_FROM]);
        }
        if (!$by_value || $has_yield) {
            return;
        }
        // A name of its own: a function within has the variables of this one that it names.
        $name = 'debugger_arrow' . ++$this->arrows;
        $here = "\\DebuggerRecorder::arrowNames(\$$name, '$name', get_defined_vars()), isset(\$this) ? \$this : null";
        $class = $this->classes ? '__CLASS__' : "''";
        $this->after[$arrow] = " [\$$name = new \\DebuggerCall('{closure}', __FILE__, $line, " .
            var_export($parameters, true) . ", $class, true, " . self::HERE . '), ' .
            "\\DebuggerRecorder::step({$body->line}, $here)] ? \\DebuggerRecorder::result(";
        $this->after[$end] = ($this->after[$end] ?? '') . ", $here) : null";
    }

    private function parameterNames(int $first, int $end): string
    {
        $names = [];
        $depth = 0;
        for ($at = $first; $at < $end; $at++) {
            $token = $this->tokens[$at];
            $depth += in_array($token->text, ['(', '['], true) <=> in_array($token->text, [')', ']'], true);
            if ($depth === 1 && $token->is(T_VARIABLE)) {
                $names[] = substr($token->text, 1);
            }
        }
        return implode(',', $names);
    }

    private function yields(int $open): bool
    {
        $depth = 0;
        for ($at = $open; isset($this->tokens[$at]); $at++) {
            $token = $this->tokens[$at];
            if ($token->is([T_YIELD, T_YIELD_FROM])) {
                return true;
            }
            if (!$token->is(T_ENCAPSED_AND_WHITESPACE)) {
                $depth += $token->is(['{', T_CURLY_OPEN, T_DOLLAR_OPEN_CURLY_BRACES]) <=> $token->is('}');
            }
            if ($depth === 0) {
                return false;
            }
        }
        return false;
    }

    private function passParentheses(): void
    {
        $this->skipBlank();
        $this->at++;
        $this->passUntil([')']);
        $this->at++;
    }

    // Goes to one of some tokens that is in no brackets; functions on the way are rewritten.
    private function passUntil(array $ends): void
    {
        $depth = 0;
        $choices = 0;
        while ($token = $this->token()) {
            if ($token->is(T_ENCAPSED_AND_WHITESPACE)) {
                $this->at++; // text within a string, which may be a bracket
                continue;
            }
            if ($depth === 0 && $token->is($ends) && !($token->is(':') && $choices > 0)) {
                return;
            }
            if ($token->is(T_FUNCTION)) {
                $this->passFunction(false);
                continue;
            }
            if ($token->is(T_FN)) {
                $this->passArrow($depth === 0 ? $ends : []);
                continue;
            }
            if ($token->is(T_CLASS) && $this->isAnonymousClass()) {
                $functions = $this->functions;
                $this->functions = [];
                $this->passClass();
                $this->functions = $functions;
                continue;
            }
            if ($token->is(['(', '[', '{', T_CURLY_OPEN, T_DOLLAR_OPEN_CURLY_BRACES, T_ATTRIBUTE])) {
                $depth++;
            } elseif ($token->is([')', ']', '}'])) {
                $depth--;
            } elseif ($depth === 0) {
                $choices += $token->is('?') <=> $token->is(':');
            }
            $this->at++;
        }
        throw new LogicException('it ends too early');
    }

    private function isAnonymousClass(): bool
    {
        for ($at = $this->at - 1; $at >= 0 && $this->tokens[$at]->isIgnorable(); $at--);
        return $at >= 0 && $this->tokens[$at]->is([T_NEW, T_READONLY]) ;
    }

    // The rest of a statement, with its semicolon; what a `return` has is passed through the recorder.
    private function passExpression(): void
    {
        $token = $this->skipBlank();
        $is_result = $token->is(T_RETURN) && $this->functions && end($this->functions)['by_value'];
        $first = $this->at;
        $this->passUntil([';', T_CLOSE_TAG]);
        $end = $this->token();
        if ($is_result && $this->peek($first + 1) !== $end) {
            $this->after[$first] = ' \DebuggerRecorder::result(';
            for ($at = $this->at - 1; $this->tokens[$at]->isIgnorable(); $at--);
            $this->after[$at] = ($this->after[$at] ?? '') . ', ' . self::HERE . ')';
        }
        $this->at++;
    }
}
