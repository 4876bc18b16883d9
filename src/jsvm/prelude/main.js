/* The run itself: the globals, the start, the two ends. */

/* sfc32 (Doty-Humphrey), 53 bits a number, seeded with what the host drew for this run alone. */
function randomFrom(seed) {
    let [a, b, c, d] = [0, 8, 16, 24].map((at) => +`0x${slice(seed, at, at + 8)}` | 0);
    const next = () => {
        const t = (a + b | 0) + d | 0;
        d = d + 1 | 0;
        a = b ^ b >>> 9;
        b = c + (c << 3) | 0;
        c = (c << 21 | c >>> 11) + t | 0;
        return t >>> 0;
    };
    for (let i = 0; i < 12; i++)
        next();
    return () => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992;
}

function print(...values) {
    let text = '';
    for (let i = 0; i < values.length; i++)
        text += (i ? ' ' : '') + show(values[i]);
    host.print(text);
}

/* Made when a script first asks for it: most ask for one or two of these. */
function lazy(name, make, settable) {
    let made = false, value;
    defineProperty(globalThis, name, {
        get() {
            if (!made) {
                made = true;
                value = make();
            }
            return value;
        },
        set: settable ? (v) => {
            made = true;
            value = v;
        } : undefined,
        enumerable: false,
        configurable: true,
    });
    return () => (made ? { value } : undefined);
}

function globals(input, alisio, tools, state, flags) {
    lazy('input', () => (input ? parse(input) : null), true);
    lazy('ALISIO', () => deepFreeze(parse(alisio || '{}')), false);
    lazy('tools', () => makeTools(tools), false);
    if (flags & 1)
        run.state = lazy('state', () => (state ? parse(state) : {}), true);
    if (flags & 2)
        define(globalThis, 'callTool', callTool);
}

/* The state as END wants it: "" when there is none, or when it is as it was. */
function stateJson() {
    const touched = run.state ? run.state() : undefined;
    if (!touched)
        return '';
    const s = touched.value;
    const proto = isObject(s) && !isArray(s) ? getPrototypeOf(s) : undefined;
    if (proto !== ObjectProto && proto !== null)
        throw new ValueError(`state must stay a plain object, and is ${cut(show(s), 100)}`);
    const json = toJson(s, 'state');
    if (json === (run.before ? stringify(parse(run.before)) : '{}'))
        return '';
    const now = parse(json), pairs = [];
    for (const k of keys(now))
        push(pairs, [k, now[k]]);
    return stringify(pairs);
}

function end(what, value, state) {
    run.over = true;
    flushProgress();
    if (run.notes.length)
        what.notes = run.notes;
    const refused = host.end(stringify(what), value, state);
    if (refused === false)
        host.end(stringify({ code: 'OUTPUT_LIMIT', message: 'the value is larger than a script may return',
            hint: 'return less, or write it to a file with a tool', notes: run.notes }), '', '');
    else if (refused === null)
        host.end(stringify({ code: 'STATE_LIMIT', message: 'the state is larger than a script may keep',
            hint: 'keep less, or raise forge.state.maxTotalBytes', notes: run.notes }), value, '');
}

function finish() {
    run.over = true;
    if (run.failure) {
        end(run.failure, '', '');
        return;
    }
    let state;
    try {
        state = stateJson();
    } catch (e) {
        end(describeError(e), run.value, '');
        return;
    }
    end({}, run.value, state);
}

function deadlock() {
    const message = 'the script waits for something that can never happen: a promise that nothing will settle';
    end({ code: 'DEADLOCK', message, hint: 'await tool calls; there are no timers and no events to wait for' }, '', '');
}

/* The engine gave up inside the script, or a microtask threw. */
function fatal(e, uncatchable) {
    const words = messageOf(e);
    if (!uncatchable)
        end(describeError(e), '', '');
    else if (host.sawMemory())
        end(withPlace(memoryError, e), '', '');
    else if (words === 'string too long')
        end(withPlace({ ...memoryError, message: 'the script made a string that is too long' }, e), '', '');
    else
        end(withPlace({ code: 'SCRIPT_ERROR', message: errorLine(e) }, e), '', '');
}

function settled() {
    const n = run.open + run.queue.length - run.first;
    if (n)
        note(`${numberOf(n, 'call was', 'calls were')} not awaited; the run waited for ${n === 1 ? 'it' : 'them'}`);
    host.settled();
}

function succeeded(value) {
    try {
        if (value === undefined && run.body)
            note('no return value: end the script with `return value`');
        run.value = toJson(value, 'value');
    } catch (e) {
        run.failure = describeError(e);
    }
    settled();
}

function failed(e) {
    run.failure = describeError(e);
    settled();
}

/* The script as a function; undefined, with run.failure set, when it does not compile. */
function compile(code) {
    try {
        const expression = asExpression(code);
        run.body = expression === undefined;
        run.shift = AS_VALUE.length;
        return host.eval(expression ?? asBody(code));
    } catch (e) {
        run.failure = syntaxError(e, code);
        return undefined;
    }
}

function start(code, input, alisio, tools, state, flags, maxOpen, seed) {
    run = { source: code, notes: [], body: false, shift: 0, value: '', failure: undefined, over: false, state: undefined,
        before: state, calls: new M(), queue: [], first: 0, open: 0, maxOpen, progress: '',
        progressAt: -1e9 };
    define(Math, 'random', randomFrom(seed));
    const began = host.now();
    performance.now = () => host.now() - began;
    performance.timeOrigin = dateNow();
    globals(input, alisio, tools, state, flags);
    const main = compile(stripFence(code));
    if (!main) {
        host.settled();
        return;
    }
    let result = main();
    if (!run.body)
        result = then(result, (v) => (typeof v === 'function' ? v(globalThis.input) : v));
    then(result, succeeded, failed);
}

delete globalThis.SharedArrayBuffer;
delete globalThis.Atomics;
delete globalThis.InternalError;
delete globalThis.gc;
define(globalThis, 'performance', {});
define(globalThis, 'print', print);
define(globalThis, 'progress', progress);
define(globalThis, 'console', { log: print, info: print, warn: print, error: print, debug: print });
define(globalThis, 'structuredClone', (v) => cloneInto(v, new M()));
for (const c of [TextEncoder, TextDecoder, URL, URLSearchParams])
    define(globalThis, c.name, c);

return { start, deliver, finish, deadlock, fatal };
