/* From the text of a script to a running function, and from what it throws to an error with the script's own lines. */

/* What stands before the code on its first line; columns there are that much further right. */
const AS_ARROW = '(async()=>{';
const AS_BODY = "(class{async[''](){";
const AS_VALUE = "(class{async[''](){return (";

const FENCE = /^\s*(```+|~~~+)[ \t]*[\w.+-]*[ \t]*\r?\n/;

/* The code inside a Markdown fence, on the lines that it had. */
function stripFence(code) {
    const open = exec(FENCE, code);
    if (!open)
        return code;
    const rest = trimEnd(slice(code, open[0].length));
    if (!endsWith(rest, open[1]))
        return code;
    const inner = slice(rest, 0, rest.length - open[1].length);
    if (inner && !endsWith(inner, '\n'))
        return code;
    return repeat('\n', splitLines(open[0]).length - 1) + inner;
}

const SyntaxErrorType = SyntaxError;

/*
 * The script as an expression, or undefined: it must stand between square and between round brackets, for code that
 * closes the one early cannot close the other. What is evaluated only makes a function.
 */
function asExpression(code) {
    let text = trimEnd(code);
    if (endsWith(text, ';'))
        text = slice(text, 0, -1);
    try {
        host.check(`(async()=>{return [${text}\n]})`);
        run.shift = AS_VALUE.length;
        return host.eval(`${AS_VALUE}${text}\n)}}).prototype['']`);
    } catch (e) {
        if (e instanceof SyntaxErrorType)
            return undefined;
        throw e;
    }
}

/*
 * The script as a body: it must stand in an arrow function and in a method. After an arrow function's end only `,` and
 * `)` may follow, after a method's neither may, so that no code can close both. A method, so that `this` is undefined.
 */
function asBody(code) {
    run.shift = AS_ARROW.length;
    host.check(`${AS_ARROW}${code}\n})`);
    run.shift = AS_BODY.length;
    return host.eval(`${AS_BODY}${code}\n}}).prototype['']`);
}

function stackOf(e) {
    try {
        if (!isA(e, E))
            return '';
        const own = getOwnPropertyDescriptor(e, 'stack');
        const text = own && 'value' in own ? own.value : errorStack(e);
        return typeof text === 'string' ? text : '';
    } catch {
        return '';
    }
}

const FRAME = /^\s*at (?:(.*) \()?script\.js:(\d+):(\d+)\)?$/;

/* {line, column, text} of one line of a stack when it lies in the script. */
function frameOf(text) {
    const m = exec(FRAME, text);
    if (!m)
        return undefined;
    const line = +m[2];
    const column = line === 1 ? max(1, +m[3] - run.shift) : +m[3];
    const name = m[1] && m[1] !== '<anonymous>' && m[1] !== '<eval>' ? m[1] : '';
    return { line, column, text: name ? `at ${name} (${line}:${column})` : `at ${line}:${column}` };
}

function scriptFrame(stack) {
    const lines = splitLines(stack);
    for (let i = 0; i < lines.length; i++) {
        const f = frameOf(lines[i]);
        if (f)
            return f;
    }
    return undefined;
}

function scriptStack(stack) {
    const lines = splitLines(stack), out = [];
    for (let i = 0; i < lines.length && out.length < 20; i++) {
        const f = frameOf(lines[i]);
        if (f)
            push(out, f.text);
    }
    return join(out, '\n');
}

function cut(text, n) {
    return text.length > n ? `${slice(text, 0, n)}… (${text.length - n} more characters)` : text;
}

const SHELL = /^(\$ |#!|(sudo|npm|npx|pnpm|yarn|node|deno|git|cd|ls|cat|echo|curl|wget|grep|rg|find|mkdir|rm|cp|mv|pip3?|python3?|bash|sh|make|docker) +[-\w./~$"'|>])/;
const SHELL_CURE = {
    message: 'this looks like a shell command, not JavaScript',
    hint: 'write JavaScript: programs are started by a tool, such as await tools.call(name, args)',
};

/* `ls -la /tmp` compiles: it is a subtraction and a division. */
function isShell(e) {
    const name = exec(/^(\w+) is not defined$/, messageOf(e));
    return name && startsWith(trimStart(run.source), `${name[1]} `) && exec(SHELL, trimStart(run.source));
}

/* One-line cures for what models write when they take the code mode for something else. */
function cureFor(code, line) {
    const first = trimStart(code);
    if (exec(/^\s*import\s*[\w{*'"]|^\s*export\s+(default|const|let|var|function|class|async|\{|\*)/, line) ||
        exec(/^(import\s*[\w{*'"]|export\s+(default|const|let|var|function|class|async|\{|\*))/, first))
        return {
            message: 'there are no modules here: import and export do not work',
            hint: 'remove import and export; what a script can use is global: tools, print, input, state',
        };
    if (exec(SHELL, first))
        return SHELL_CURE;
    if (exec(/^\s*(export\s+)?(interface\s+\w+|type\s+\w+(<[^>]*>)?\s*=|enum\s+\w+\s*\{|declare\s|namespace\s+\w+)/, line) ||
        exec(/[\w)\]?]\s*:\s*(string|number|boolean|any|unknown|never|void|object|null|undefined|Record|Array|Promise|Map|Set|Partial|ReadonlyArray|[A-Z]\w*(\[\]|<))\b/, line) ||
        exec(/[\w)\]?]\s*:\s*([A-Z]\w*|\{[^}]*\}|\[[^\]]*\])(\[\])?\s*(=[^=>]|[,)]\s*.*=>|\)\s*\{)/, line) ||
        exec(/\b(as|satisfies)\s+(const|[A-Za-z_]\w*)|\w!\.|\w<\w[\w<>, ]*>\(/, line))
        return {
            message: 'this is TypeScript syntax',
            hint: 'write plain JavaScript: remove type annotations, interfaces and casts',
        };
    return undefined;
}

// What is missing at the end shows in the line behind the script, which is ours.
function endsTooEarly(lines) {
    const line = lines.length;
    return {
        code: 'SYNTAX_ERROR',
        message: `SyntaxError: the script ends too early, after line ${line}: something that was opened is not closed, or an expression is not complete`,
        hint: '',
        line,
        column: lines[line - 1].length + 1,
    };
}

function syntaxError(e, code) {
    const at = scriptFrame(stackOf(e)) ?? { line: 0, column: 0 };
    const lines = splitLines(run.source);
    const text = at.line >= 1 && at.line <= lines.length ? trim(lines[at.line - 1]) : '';
    const cure = cureFor(code, at.line >= 1 && at.line <= lines.length ? lines[at.line - 1] : '');
    if (!cure && at.line > lines.length && lines.length)
        return endsTooEarly(lines);
    let message = cure ? `${cure.message} (${errorLine(e)})` : errorLine(e);
    if (at.line)
        message += ` at line ${at.line}, column ${at.column}`;
    if (text)
        message += `: ${cut(text, 200)}`;
    return { code: 'SYNTAX_ERROR', message, hint: cure ? cure.hint : '', line: at.line, column: at.column };
}

const STACK_MESSAGE = 'Maximum call stack size exceeded';
const stackError = {
    code: 'STACK_LIMIT',
    message: 'the script recursed deeper than its stack allows',
    hint: 'use a loop, or raise forge.javascript.stackBytes',
};
const memoryError = {
    code: 'MEMORY_LIMIT',
    message: 'the script used more memory than its limit',
    hint: 'keep less in memory at once, or raise forge.javascript.memoryBytes',
};

function withPlace(error, e) {
    const stack = stackOf(e), at = scriptFrame(stack);
    if (!at)
        return error;
    return { ...error, line: at.line, column: at.column, stack: scriptStack(stack) };
}

function describeError(e) {
    if (e === null && host.sawMemory())
        return memoryError;
    if (isA(e, ValueError))
        return { code: 'INVALID_RESULT', message: e.message };
    const told = isObject(e) ? weakGet(toldBy, e) : undefined;
    if (told)
        return withPlace({ code: told.code, message: cut(withTool(e), 8000), hint: told.hint }, e);
    if (isA(e, RangeErrorType) && messageOf(e) === STACK_MESSAGE && host.wasDeep())
        return withPlace(stackError, e);
    if (isA(e, ReferenceErrorType) && isShell(e))
        return withPlace({ ...SHELL_CURE, code: 'SYNTAX_ERROR', message: `${SHELL_CURE.message} (${errorLine(e)})` }, e);
    const words = isA(e, E) ? errorLine(e) : `thrown: ${show(e)}`;
    return withPlace({ code: 'SCRIPT_ERROR', message: cut(words, 8000) }, e);
}
const RangeErrorType = RangeError;
const ReferenceErrorType = ReferenceError;

function messageOf(e) {
    try {
        return `${e.message}`;
    } catch {
        return '';
    }
}

// Many messages begin with the tool's name already.
function withTool(e) {
    const message = messageOf(e);
    try {
        const tool = typeof e.tool === 'string' ? slice(e.tool, 0, 200) : '';
        return tool && !startsWith(message, tool) ? `${tool}: ${message}` : message;
    } catch {
        return message;
    }
}
