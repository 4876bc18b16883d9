/*
 * Values as JSON. Beyond what JSON.stringify does: undefined is null at the top; NaN and infinities are null, and
 * noted; BigInt is a decimal string; Map an object when all keys are strings, else an array of pairs; Set an array;
 * a typed array an array of its numbers; ArrayBuffer and DataView {"base64": "…"}; Error {name, message, code?};
 * RegExp its text. Date and every toJSON work as always; functions and symbols are dropped as always.
 */
const MAX_DEPTH = 100;

/* INVALID_RESULT, TOOL_INPUT_INVALID or STATE…: the caller knows which. */
class ValueError extends Error {}

/* True when JSON.stringify alone gives the form above. A cycle is too deep, and so not plain. */
function isPlain(v, depth) {
    switch (typeof v) {
    case 'number':
        return v - v === 0;
    case 'bigint':
        return false;
    case 'object':
        break;
    default:
        return true;
    }
    if (v === null)
        return true;
    if (depth >= MAX_DEPTH || typeof v.toJSON === 'function')
        return false;
    if (isArray(v)) {
        for (let i = 0; i < v.length; i++) {
            if (!isPlain(v[i], depth + 1))
                return false;
        }
        return true;
    }
    const proto = getPrototypeOf(v);
    if (proto !== ObjectProto && proto !== null)
        return false;
    const names = keys(v);
    for (let i = 0; i < names.length; i++) {
        if (!isPlain(v[names[i]], depth + 1))
            return false;
    }
    return true;
}

function pathText(root, path) {
    let text = root;
    for (let i = 0; i < path.length; i++) {
        const k = path[i];
        if (typeof k === 'number')
            text += `[${k}]`;
        else if (exec(/^[A-Za-z_$][\w$]*$/, k))
            text += `.${k}`;
        else
            text += `[${stringify(k)}]`;
    }
    return text.length > 300 ? slice(text, 0, 300) + '…' : text;
}

function base64(bytes) {
    let text = '';
    for (let i = 0; i < bytes.length; i++)
        text += fromCharCode(bytes[i]);
    return baseEncode(text);
}

/* Makes a copy that JSON.stringify takes as it is: arrays and objects without prototypes. */
class Converter {
    constructor(root) {
        this.root = root;
        this.path = [];
        this.above = [];
        this.odd = 0;      /* NaN and infinities */
        this.promises = 0; /* that nobody awaited */
    }

    array(n, at) {
        const out = [];
        for (let i = 0; i < n; i++)
            put(out, i, this.member(i, at(i)) ?? null);
        return setPrototypeOf(out, null);
    }

    member(key, v) {
        push(this.path, key);
        const out = this.convert(v, key);
        this.path.length--;
        return out;
    }

    object(names, at) {
        const out = create(null);
        for (let i = 0; i < names.length; i++) {
            const v = this.member(names[i], at(names[i]));
            if (v !== undefined)
                out[names[i]] = v;
        }
        return out;
    }

    map(v) {
        const pairs = [];
        let named = true;
        mapForEach(v, (value, key) => {
            named = named && typeof key === 'string';
            push(pairs, [key, value]);
        });
        if (!named)
            return this.array(pairs.length, (i) => pairs[i]);
        const out = create(null);
        for (let i = 0; i < pairs.length; i++)
            out[pairs[i][0]] = this.member(pairs[i][0], pairs[i][1]) ?? null;
        return out;
    }

    set(v) {
        const items = [];
        setForEach(v, (item) => push(items, item));
        return this.array(items.length, (i) => items[i]);
    }

    error(v) {
        const out = create(null);
        out.name = `${v.name}`;
        out.message = `${v.message}`;
        const more = this.object(keys(v), (k) => v[k]);
        for (const k of keys(more))
            out[k] = more[k];
        if (v.code !== undefined && out.code === undefined)
            out.code = `${v.code}`;
        return out;
    }

    special(v) {
        if (isArray(v))
            return this.array(v.length, (i) => v[i]);
        if (v instanceof M)
            return this.map(v);
        if (v instanceof S)
            return this.set(v);
        if (v instanceof E)
            return this.error(v);
        if (v instanceof R)
            return regExpText(v);
        if (v instanceof TypedArray)
            return this.array(typedLength(v), (i) => v[i]);
        if (v instanceof B)
            return this.object(['base64'], () => base64(new Bytes(v)));
        if (v instanceof DV)
            return this.object(['base64'], () => base64(new Bytes(v.buffer, v.byteOffset, v.byteLength)));
        if (v instanceof P)
            this.promises++;
        return this.object(keys(v), (k) => v[k]);
    }

    deeper(v) {
        for (let i = 0; i < this.above.length; i++) {
            if (this.above[i] === v) {
                const to = pathText(this.root, this.path), from = [];
                for (let k = 0; k < i; k++)
                    push(from, this.path[k]);
                throw new ValueError(`${to} is a cycle: it leads back to ${pathText(this.root, from)}`);
            }
        }
        if (this.above.length >= MAX_DEPTH)
            throw new ValueError(`${pathText(this.root, this.path)} is nested deeper than ${MAX_DEPTH} levels`);
        push(this.above, v);
        const out = this.special(v);
        this.above.length--;
        return out;
    }

    /* undefined: to be left out. */
    convert(v, key) {
        if ((isObject(v) || typeof v === 'bigint') && typeof v.toJSON === 'function')
            v = v.toJSON(`${key}`);
        if (isObject(v)) {
            const kind = classText(v);
            if (kind === '[object Number]' || kind === '[object String]' || kind === '[object Boolean]' ||
                kind === '[object BigInt]')
                v = v.valueOf();
        }
        switch (typeof v) {
        case 'number':
            if (v - v === 0)
                return v;
            this.odd++;
            return null;
        case 'bigint':
            return `${v}`;
        case 'string':
        case 'boolean':
            return v;
        case 'object':
            return v === null ? null : this.deeper(v);
        }
        return undefined;
    }
}

function numberOf(n, one, many) {
    return `${n} ${n === 1 ? one : many}`;
}

/* The JSON of v; a ValueError says what is wrong, with its path below root. */
function toJson(v, root) {
    try {
        if (isPlain(v, 0))
            return stringify(v) ?? 'null';
        const c = new Converter(root);
        const text = stringify(c.convert(v, '')) ?? 'null';
        if (c.odd)
            note(`${numberOf(c.odd, 'number', 'numbers')} in the ${root} that JSON has not (NaN, Infinity): null`);
        if (c.promises)
            note(`${numberOf(c.promises, 'promise', 'promises')} in the ${root} that nothing awaited: {}`);
        return text;
    } catch (e) {
        if (isA(e, ValueError))
            throw e;
        throw new ValueError(`the ${root} cannot be made JSON: ${errorLine(e)}`);
    }
}
