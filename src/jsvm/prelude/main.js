/* The run itself: the globals, the start, the two ends. */

/* sfc32 (Doty-Humphrey), 53 bits a number, seeded at first use with what the host drew for this run alone. */
let [ra, rb, rc, rd, seeded] = [0, 0, 0, 0, false];

function nextWord() {
    const t = (ra + rb | 0) + rd | 0;
    rd = rd + 1 | 0;
    ra = rb ^ rb >>> 9;
    rb = rc + (rc << 3) | 0;
    rc = (rc << 21 | rc >>> 11) + t | 0;
    return t >>> 0;
}

function seedRandom() {
    const word = (at) => +`0x${slice(run.seed, at, at + 8)}` | 0;
    [ra, rb, rc, rd] = [word(0), word(8), word(16), word(24)];
    seeded = true;
    for (let i = 0; i < 12; i++)
        nextWord();
}

function random() {
    if (!seeded)
        seedRandom();
    return ((nextWord() >>> 5) * 67108864 + (nextWord() >>> 6)) / 9007199254740992;
}

function print(...values) {
    let text = '';
    for (let i = 0; i < values.length; i++)
        text += (i ? ' ' : '') + show(values[i]);
    host.print(text);
}

/* A global that is made when a script first asks for it: most ask for one or two of these. */
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

const inputNow = lazy('input', () => (run.input ? parse(run.input) : null), true);
const stateNow = lazy('state', () => (run.before ? parse(run.before) : {}), true);
lazy('ALISIO', () => deepFreeze(parse(run.alisio || '{}')), false);
lazy('tools', () => makeTools(run.tools), false);

/* The state as END wants it: "" when there is none, or when it is as it was. */
function stateJson() {
    const touched = run.flags & 1 ? stateNow() : undefined;
    if (!touched)
        return '';
    const s = touched.value;
    const proto = isObject(s) && !isArray(s) ? getPrototypeOf(s) : undefined;
    if (proto !== ObjectProto && proto !== null)
        throw new ValueError(`state must stay a plain object, and is ${cut(show(s), 100)}`);
    const json = toJson(s, 'state');
    if (json === (run.before ? stringify(bare(parse(run.before))) : '{}'))
        return '';
    const now = parse(json), pairs = [];
    if (!isObject(now) || isArray(now))
        throw new ValueError(`state must stay a plain object, and its toJSON makes ${cut(json, 100)} of it`);
    const names = keys(now);
    for (let i = 0; i < names.length; i++)
        push(pairs, [names[i], now[names[i]]]);
    return stringify(bare(pairs));
}

const endNames = ['code', 'message', 'hint', 'stack', 'line', 'column'];

/*
 * END's JSON: of what `what` has itself, and of nothing that a script may have put behind it. Only texts are given to
 * stringify: of an object it would keep a list, and meet a setter of Array.prototype.
 */
function endJson(what) {
    let text = '', notes = '';
    for (let i = 0; i < endNames.length; i++) {
        const v = own(what, endNames[i]);
        if (v !== undefined)
            text += `${text ? ',' : ''}"${endNames[i]}":${stringify(v)}`;
    }
    for (let i = 0; i < run.notes.length; i++)
        notes += `${i ? ',' : ''}${stringify(run.notes[i])}`;
    if (notes)
        text += `${text ? ',' : ''}"notes":[${notes}]`;
    return `{${text}}`;
}

function end(what, value, state) {
    run.over = true;
    flushProgress();
    const refused = host.end(endJson(what), value, state);
    if (refused === false)
        host.end(endJson({ code: 'OUTPUT_LIMIT', message: 'the value is larger than a script may return',
            hint: 'return less, or write it to a file with a tool' }), '', '');
    else if (refused === null)
        host.end(endJson({ code: 'STATE_LIMIT', message: 'the state is larger than a script may keep',
            hint: 'keep less, or raise forge.state.maxTotalBytes' }), value, '');
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
        if (expression)
            return expression;
        run.body = true;
        return asBody(code);
    } catch (e) {
        run.failure = syntaxError(e, code);
        return undefined;
    }
}

function callWithInput(v) {
    if (typeof v !== 'function')
        return v;
    const now = inputNow();
    return v(now ? now.value : run.input ? parse(run.input) : null);
}

function start(code, input, alisio, tools, state, flags, maxOpen, seed) {
    run.source = code;
    run.input = input;
    run.alisio = alisio;
    run.tools = tools;
    run.before = state;
    run.flags = flags;
    run.maxOpen = maxOpen;
    run.seed = seed;
    run.began = host.now();
    if (!(flags & 1))
        delete globalThis.state;
    if (flags & 2)
        define(globalThis, 'callTool', callTool);
    const main = compile(stripFence(code));
    if (!main) {
        host.settled();
        return;
    }
    const result = main();
    then(run.body ? result : then(result, callWithInput), succeeded, failed);
}

delete globalThis.SharedArrayBuffer;
delete globalThis.Atomics;
delete globalThis.InternalError;
delete globalThis.gc;
define(Math, 'random', random);
define(globalThis, 'performance', { now: () => host.now() - run.began });
define(globalThis, 'print', print);
define(globalThis, 'progress', progress);
define(globalThis, 'console', { log: print, info: print, warn: print, error: print, debug: print });
define(globalThis, 'structuredClone', (v) => cloneInto(v, new M()));
for (const c of [TextEncoder, TextDecoder, URL, URLSearchParams])
    define(globalThis, c.name, c);

return { start, deliver, finish, deadlock, fatal };
