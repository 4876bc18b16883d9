/* Values as text for people: what print shows. Never calls a getter of the script, never fails. */
const INSPECT_DEPTH = 4;
const INSPECT_ITEMS = 100;
const INSPECT_STRING = 2000;
const INSPECT_TOTAL = 50000;
const INSPECT_WIDTH = 100;

function quote(text) {
    if (text.length > INSPECT_STRING)
        return `${stringify(slice(text, 0, INSPECT_STRING))}… ${text.length - INSPECT_STRING} more`;
    return stringify(text);
}

function keyText(k) {
    if (typeof k === 'symbol')
        return `[${symbolText(k)}]`;
    return exec(/^[A-Za-z_$][\w$]*$/, k) ? k : quote(k);
}

/* "TypeError: words", whatever the object does. */
function errorLine(e) {
    try {
        if (!isObject(e))
            return show(e);
        if (!(e instanceof E))
            return typeof e.message === 'string' ? e.message : show(e);
        const name = `${e.name}`, message = `${e.message}`;
        return message ? `${name}: ${message}` : name;
    } catch {
        return 'an error that cannot be shown';
    }
}

class Inspector {
    constructor() {
        this.above = [];
        this.left = INSPECT_TOTAL;
    }

    group(prefix, open, parts, close) {
        const indent = repeat('  ', this.above.length - 1); /* the group's own object is among them */
        let width = 0, lines = false;
        for (let i = 0; i < parts.length; i++) {
            width += parts[i].length + 2;
            lines = lines || indexOf(parts[i], '\n') >= 0;
        }
        const before = prefix ? `${prefix} ` : '';
        if (!parts.length)
            return `${before}${open}${close}`;
        if (width <= INSPECT_WIDTH && !lines)
            return `${before}${open} ${join(parts, ', ')} ${close}`;
        const inner = repeat('  ', this.above.length);
        return `${before}${open}\n${inner}${join(parts, `,\n${inner}`)}\n${indent}${close}`;
    }

    /* At most INSPECT_ITEMS of n parts, and none once the whole is large. */
    parts(n, make) {
        const out = [];
        let i = 0;
        for (; i < n && i < INSPECT_ITEMS && this.left > 0; i++) {
            const text = make(i);
            this.left -= text.length;
            push(out, text);
        }
        if (i < n)
            push(out, `… ${n - i} more`);
        return out;
    }

    slot(o, k) {
        const d = getOwnPropertyDescriptor(o, k);
        if (!d)
            return 'undefined';
        return 'value' in d ? this.value(d.value) : '[Getter]';
    }

    members(o, names) {
        return this.parts(names.length, (i) => `${keyText(names[i])}: ${this.slot(o, names[i])}`);
    }

    kind(o) {
        const proto = getPrototypeOf(o);
        if (proto === ObjectProto)
            return '';
        if (proto === null)
            return '[null]';
        const c = getOwnPropertyDescriptor(proto, 'constructor');
        const f = c && c.value;
        const name = typeof f === 'function' ? getOwnPropertyDescriptor(f, 'name') : undefined;
        return name && typeof name.value === 'string' ? slice(name.value, 0, 100) : '';
    }

    pairs(o) {
        const all = [];
        mapForEach(o, (v, k) => push(all, [k, v]));
        return this.parts(all.length, (i) => `${this.value(all[i][0])} => ${this.value(all[i][1])}`);
    }

    items(o) {
        const all = [];
        setForEach(o, (v) => push(all, v));
        return this.parts(all.length, (i) => this.value(all[i]));
    }

    error(o) {
        const at = scriptFrame(stackOf(o));
        const more = this.members(o, keys(o));
        const text = errorLine(o) + (at ? ` (line ${at.line})` : '');
        return more.length ? this.group(text, '{', more, '}') : text;
    }

    object(o) {
        if (isArray(o))
            return this.group('', '[', this.parts(o.length, (i) => this.slot(o, i)), ']');
        if (o instanceof E)
            return this.error(o);
        if (o instanceof D)
            return dateValue(o) - dateValue(o) === 0 ? dateText(o) : 'Invalid Date';
        if (o instanceof R)
            return regExpText(o);
        if (o instanceof M)
            return this.group(`Map(${mapSize(o)})`, '{', this.pairs(o), '}');
        if (o instanceof S)
            return this.group(`Set(${setSize(o)})`, '{', this.items(o), '}');
        if (o instanceof TypedArray) {
            const n = typedLength(o);
            return this.group(`${typedName(o)}(${n})`, '[', this.parts(n, (i) => `${o[i]}`), ']');
        }
        if (o instanceof B)
            return `ArrayBuffer(${bufferLength(o)})`;
        if (o instanceof P)
            return 'Promise { not awaited }';
        return this.group(this.kind(o), '{', this.members(o, keys(o)), '}');
    }

    value(v) {
        switch (typeof v) {
        case 'string':
            return quote(v);
        case 'bigint':
            return `${v}n`;
        case 'symbol':
            return symbolText(v);
        case 'function': {
            if (getPrototypeOf(v) === null) /* an MCP server of `tools` */
                break;
            const name = getOwnPropertyDescriptor(v, 'name');
            const text = name && typeof name.value === 'string' ? slice(name.value, 0, 100) : '';
            return text ? `[Function ${text}]` : '[Function]';
        }
        case 'object':
            break;
        default:
            return v === 0 && 1 / v < 0 ? '-0' : `${v}`;
        }
        if (v === null)
            return 'null';
        for (let i = 0; i < this.above.length; i++) {
            if (this.above[i] === v)
                return '[Circular]';
        }
        if (this.above.length >= INSPECT_DEPTH)
            return isArray(v) ? `[Array(${v.length})]` : `[${this.kind(v) || 'Object'}]`;
        push(this.above, v);
        try {
            return this.object(v);
        } finally {
            this.above.length--;
        }
    }
}

function show(v) {
    if (typeof v === 'string')
        return v;
    try {
        return new Inspector().value(v);
    } catch {
        return '[cannot be shown]';
    }
}
