/* Nested calls: `tools`, `callTool`, `progress`, and the errors that calls reject with. */

/* What a failing call rejects with. Only those made here count as a tool's failure when nobody catches them. */
class ToolError extends Error {
    constructor(tool, told, stack) {
        super(`${own(told, 'message')}`);
        const hint = own(told, 'hint');
        define(this, 'name', 'ToolError');
        put(this, 'code', `${own(told, 'code')}`);
        if (hint)
            put(this, 'hint', `${hint}`);
        put(this, 'tool', tool);
        if (stack)
            define(this, 'stack', stack);
    }
}
const toldBy = new WeakMap(); /* ToolError -> {code, hint} as the host gave them */

function toolError(tool, told, stack) {
    const e = new ToolError(tool, told, stack);
    weakSet(toldBy, e, { __proto__: null, code: own(told, 'code'), hint: own(told, 'hint') });
    return e;
}

function send(call) {
    run.open++;
    const id = host.call(call.name, call.args);
    if (id === false) {
        run.open--;
        settle(call, false, { code: 'TOOL_INPUT_INVALID', message: 'the name or the arguments of the call are too long' });
        return;
    }
    mapSet(run.calls, id, call);
}

/* No finally, no async function: what a script may have done to promises must not stop the queue. */
function sendWaiting() {
    while (run.open < run.maxOpen && run.first < run.queue.length) {
        const call = run.queue[run.first];
        run.queue[run.first++] = undefined;
        send(call);
    }
    if (run.first > 0 && run.first === run.queue.length) {
        run.queue = [];
        run.first = 0;
    }
}

function settle(call, ok, value) {
    if (ok)
        call.resolve(value);
    else
        call.reject(toolError(call.name, value, call.stack));
}

function deliver(id, ok, json) {
    const call = mapGet(run.calls, id);
    if (!call)
        return;
    mapDelete(run.calls, id);
    run.open--;
    settle(call, ok, parse(json));
    sendWaiting();
}

function callTool(name, args) {
    const stack = errorStack(new E());
    return new P((resolve, reject) => {
        if (typeof name !== 'string') {
            const told = { code: 'TOOL_INPUT_INVALID', message: `tools.call takes a tool's name, not ${show(name)}` };
            reject(toolError(show(name), told, stack));
            return;
        }
        if (run.over) {
            reject(toolError(name, { code: 'NOT_CALLABLE', message: 'the script has ended' }, stack));
            return;
        }
        let json;
        try {
            json = args === undefined ? '{}' : toJson(args, 'arguments');
        } catch (e) {
            reject(toolError(name, { code: 'TOOL_INPUT_INVALID', message: e.message }, stack));
            return;
        }
        push(run.queue, { name: wellFormed(name), args: json, resolve, reject, stack });
        sendWaiting();
    });
}

function ask(what, arg, tool) {
    const answer = host.query(what, stringify(arg) ?? 'null');
    const value = answer === false ? { error: { code: 'INVALID_INPUT', message: 'too long' } } : parse(answer);
    const error = isObject(value) ? own(value, 'error') : undefined;
    if (isObject(error) && typeof own(error, 'code') === 'string')
        throw toolError(tool, error);
    return value;
}

function list(query) {
    return ask('list', query === undefined || query === null ? null : `${query}`, 'tools.list');
}

function describe(name) {
    return ask('describe', `${name}`, `${name}`);
}

function concurrencyOf(options) {
    const n = options === undefined || options === null ? undefined : options.concurrency;
    if (n === undefined)
        return run.maxOpen;
    if (typeof n !== 'number' || !(n >= 1))
        throw new TypeError('tools.map: concurrency is a number from 1');
    return floor(n);
}

/* Ordered results; fn runs at most `concurrency` at once; after the first failure nothing new is begun. */
function map(items, fn, options) {
    return new P((resolve, reject) => {
        if (typeof fn !== 'function')
            throw new TypeError('tools.map takes items and a function');
        const all = [...items], results = [], most = concurrencyOf(options);
        const every = Boolean(options && options.settle);
        let next = 0, left = all.length, failed = false;
        const done = (i, value) => {
            results[i] = value;
            if (--left === 0)
                resolve(results);
            else
                begin();
        };
        const begin = () => {
            if (failed || next >= all.length)
                return;
            const i = next++;
            then(new P((ok) => ok(fn(all[i], i))),
                (value) => done(i, every ? { status: 'fulfilled', value } : value),
                (reason) => {
                    if (every) {
                        done(i, { status: 'rejected', reason });
                    } else {
                        failed = true;
                        reject(reason);
                    }
                });
        };
        if (left === 0)
            resolve(results);
        for (let i = 0; i < most && i < all.length; i++)
            begin();
    });
}

/* A promise would call `then`, JSON would call `toJSON`: such names must not look like tools. */
const hidden = new Set(['then', 'catch', 'finally', 'toJSON', 'constructor', 'prototype', 'toString', 'valueOf',
    '__proto__']);
/* What a function has itself. */
const ofFunctions = new Set(['name', 'length', 'apply', 'bind', 'call']);
const ours = { call: callTool, list, describe, map };

function caller(prefix, name) {
    const f = (args) => callTool(prefix + name, args);
    defineProperty(f, 'name', { value: name });
    return f;
}

/* A name that is none of ours, a server's, or a tool's: the host answers a call with TOOL_NOT_FOUND and close names,
 * and so it does for a name behind it, as in tools.memroy.read_graph. */
function stranger(prefix, name) {
    return new Proxy(freeze(caller(prefix, name)), {
        get(target, member) {
            if (typeof member !== 'string' || setHas(hidden, member) || setHas(ofFunctions, member))
                return target[member];
            return stranger(`${prefix}${name}.`, member);
        },
    });
}

/* Known names are properties. */
function callable(known, prefix) {
    return new Proxy(freeze(known), {
        get(target, name) {
            if (typeof name !== 'string' || setHas(hidden, name))
                return undefined;
            return hasOwn(target, name) ? target[name] : stranger(prefix, name);
        },
    });
}

/* A function only so that who calls it is told what it is. */
function makeServer(name, tools) {
    const o = setPrototypeOf(caller('', name), null);
    delete o.name;
    delete o.length;
    return callable(addTools(o, tools, `${name}.`), `${name}.`);
}

function addTools(o, names, prefix) {
    for (let i = 0; i < names.length; i++) {
        if (!setHas(hidden, names[i]) && !hasOwn(o, names[i]))
            o[names[i]] = caller(prefix, names[i]);
    }
    return o;
}

function makeTools(json) {
    const known = json ? parse(json) : {};
    const o = create(null);
    for (const name of keys(ours))
        o[name] = ours[name];
    addTools(o, known.tools ?? [], '');
    const servers = known.servers ?? {};
    for (const name of keys(servers)) {
        if (!setHas(hidden, name) && !hasOwn(o, name))
            o[name] = makeServer(name, servers[name]);
    }
    return callable(o, '');
}

/* A run sends forty a second, and at its end what it held back; the host has its own limit. */
const PROGRESS_MS = 25;

function progressJson(what) {
    const out = create(null);
    if (isObject(what)) {
        for (const k of ['completed', 'total']) {
            const n = what[k];
            if (typeof n === 'number' && n - n === 0)
                out[k] = n;
        }
        if (what.note !== undefined)
            out.note = slice(show(what.note), 0, 500);
    } else if (what !== undefined) {
        out.note = slice(show(what), 0, 500);
    }
    return stringify(out);
}

function flushProgress() {
    if (run.progress)
        host.progress(run.progress);
    run.progress = '';
}

function progress(what) {
    try {
        run.progress = progressJson(what);
        const now = host.now();
        if (now - run.progressAt < PROGRESS_MS)
            return;
        run.progressAt = now;
        flushProgress();
    } catch {
        /* never an error of the script */
    }
}
