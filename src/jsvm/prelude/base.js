/*
 * The prelude: what a script finds in its VM. It runs once, in the zygote, before any script; `host` are the
 * functions of vm_host.c and never leave this closure. The files of this folder are joined in the order that
 * CMakeLists.txt gives: base, values, inspect, tools, script, web, main.
 *
 * A script may replace whatever it likes of the built-in objects. So that it then surprises only itself, all that is
 * needed later is taken here, as functions that get their `this` as first argument.
 */
const uncurry = Function.prototype.bind.bind(Function.prototype.call);
const { create, defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf, keys } = Object;
const { ownKeys } = Reflect;
const { isArray } = Array;
const { stringify, parse } = JSON;
const { min, max, floor } = Math;
const dateNow = Date.now;
const fromCharCode = String.fromCharCode;
const fromCodePoint = String.fromCodePoint;
const ObjectProto = Object.prototype;
const ArrayProto = Array.prototype;
const TypedArray = getPrototypeOf(Uint8Array);
const getter = (o, name) => uncurry(getOwnPropertyDescriptor(o, name).get);

const join = uncurry(ArrayProto.join);
const slice = uncurry(String.prototype.slice);
const indexOf = uncurry(String.prototype.indexOf);
const lastIndexOf = uncurry(String.prototype.lastIndexOf);
const startsWith = uncurry(String.prototype.startsWith);
const endsWith = uncurry(String.prototype.endsWith);
const repeat = uncurry(String.prototype.repeat);
const trim = uncurry(String.prototype.trim);
const trimStart = uncurry(String.prototype.trimStart);
const trimEnd = uncurry(String.prototype.trimEnd);
const wellFormed = uncurry(String.prototype.toWellFormed);
const charCodeAt = uncurry(String.prototype.charCodeAt);
const codePointAt = uncurry(String.prototype.codePointAt);
const toLowerCase = uncurry(String.prototype.toLowerCase);
const exec = uncurry(RegExp.prototype.exec);
const regExpText = uncurry(RegExp.prototype.toString);
const functionText = uncurry(Function.prototype.toString);
const symbolText = uncurry(Symbol.prototype.toString);
const hasOwn = uncurry(ObjectProto.hasOwnProperty);
const classText = uncurry(ObjectProto.toString);
const then = uncurry(Promise.prototype.then);
const promiseResolve = Promise.resolve.bind(Promise);
const apply = Reflect.apply;

const mapForEach = uncurry(Map.prototype.forEach);
const mapSize = getter(Map.prototype, 'size');
const mapGet = uncurry(Map.prototype.get);
const mapSet = uncurry(Map.prototype.set);
const mapDelete = uncurry(Map.prototype.delete);
const setForEach = uncurry(Set.prototype.forEach);
const setSize = getter(Set.prototype, 'size');
const setHas = uncurry(Set.prototype.has);
const setAdd = uncurry(Set.prototype.add);
const weakGet = uncurry(WeakMap.prototype.get);
const weakSet = uncurry(WeakMap.prototype.set);
const dateValue = uncurry(Date.prototype.getTime);
const dateText = uncurry(Date.prototype.toISOString);
const typedLength = getter(TypedArray.prototype, 'length');
const typedName = getter(TypedArray.prototype, Symbol.toStringTag);
const bufferLength = getter(ArrayBuffer.prototype, 'byteLength');
const errorStack = getter(Error.prototype, 'stack');
const baseEncode = btoa;
const Bytes = Uint8Array;
const [M, S, D, E, P, R, B, DV] = [Map, Set, Date, Error, Promise, RegExp, ArrayBuffer, DataView];

const isObject = (v) => typeof v === 'object' && v !== null;
const noop = () => {};

/* instanceof for what a script threw: a hostile proxy throws in turn. */
function isA(v, type) {
    try {
        return isObject(v) && v instanceof type;
    } catch {
        return false;
    }
}

/* Descriptors without a prototype, and one object for all: what a script adds to Object.prototype is not met. */
const hiddenSlot = { __proto__: null, value: undefined, writable: true, enumerable: false, configurable: true };
const plainSlot = { __proto__: null, value: undefined, writable: true, enumerable: true, configurable: true };

/* A property as a built-in object has it: not enumerable. */
function define(o, name, value) {
    hiddenSlot.value = value;
    defineProperty(o, name, hiddenSlot);
    hiddenSlot.value = undefined;
}

/* As an assignment, but past every setter. */
function put(o, name, value) {
    plainSlot.value = value;
    defineProperty(o, name, plainSlot);
    plainSlot.value = undefined;
}

function push(list, value) {
    put(list, list.length, value);
}

function own(o, name) {
    return hasOwn(o, name) ? o[name] : undefined;
}

/* Data of ours or from JSON.parse, for JSON.stringify: without prototypes, no toJSON is met. Changes v itself. */
function bare(v) {
    if (!isObject(v))
        return v;
    const names = keys(v);
    for (let i = 0; i < names.length; i++)
        bare(v[names[i]]);
    return setPrototypeOf(v, null);
}

/* All matches are needed here and there; String.prototype.split would look at what a script may have changed. */
function splitLines(text) {
    const lines = [];
    for (let from = 0; ;) {
        const at = indexOf(text, '\n', from);
        if (at < 0) {
            push(lines, slice(text, from));
            return lines;
        }
        push(lines, slice(text, from, at));
        from = at + 1;
    }
}

function deepFreeze(v) {
    if (isObject(v)) {
        for (const k of ownKeys(v))
            deepFreeze(v[k]);
        freeze(v);
    }
    return v;
}

/*
 * The run's own record. It is made here, in the zygote, and each run fills its copy: a run that makes little of its own
 * touches few pages, which the kernel would have to copy.
 */
const run = {
    source: '', input: '', alisio: '', tools: '', before: '', seed: '', flags: 0, maxOpen: 1, began: 0,
    body: false,        /* the script is a body, not an expression */
    shift: 0,           /* characters before the script on its first line */
    value: '',          /* JSON, once it has one */
    failure: undefined, /* what END says of it, once it has failed */
    over: false,
    calls: new Map(), queue: [], first: 0, open: 0,
    progress: '', progressAt: -1e9,
    notes: [],
};

function note(text) {
    if (run.notes.length < 20)
        push(run.notes, text);
}
