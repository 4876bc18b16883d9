/* What scripts expect from elsewhere and the engine has not: structuredClone, TextEncoder, TextDecoder, a small URL. */

function cloneError(what) {
    return new DomException(`${what} cannot be cloned`, 'DataCloneError');
}
const DomException = DOMException;

/* A copy of what is known to be a platform object, to be filled by the caller; undefined for a plain object. */
function clonePlatform(v) {
    if (v instanceof D)
        return new D(dateValue(v));
    if (v instanceof R)
        return new R(v.source, v.flags);
    if (v instanceof B)
        return uncurrySlice(v, 0);
    if (v instanceof DV)
        return new DV(uncurrySlice(v.buffer, 0), v.byteOffset, v.byteLength);
    if (v instanceof TypedArray)
        return new types[typedName(v)](v);
    if (v instanceof P || v instanceof WeakMap || v instanceof WeakSet || v instanceof WeakRef)
        throw cloneError(show(v));
    return undefined;
}
const uncurrySlice = uncurry(ArrayBuffer.prototype.slice);
const types = { Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
    BigInt64Array, BigUint64Array, Float32Array, Float64Array };

function cloneInto(v, seen) {
    if (typeof v === 'function' || typeof v === 'symbol')
        throw cloneError(show(v));
    if (!isObject(v))
        return v;
    const known = mapGet(seen, v);
    if (known)
        return known;
    let out = clonePlatform(v);
    if (out === undefined)
        out = isArray(v) ? [] : v instanceof M ? new M() : v instanceof S ? new S() : v instanceof E ? new E(v.message) : {};
    mapSet(seen, v, out);
    if (out instanceof M)
        mapForEach(v, (value, key) => mapSet(out, cloneInto(key, seen), cloneInto(value, seen)));
    else if (out instanceof S)
        setForEach(v, (item) => setAdd(out, cloneInto(item, seen)));
    else if (out instanceof E)
        define(out, 'name', `${v.name}`);
    else if (isArray(v) || getPrototypeOf(out) === ObjectProto)
        for (const k of keys(v))
            out[k] = cloneInto(v[k], seen);
    if (isArray(v))
        out.length = v.length;
    return out;
}

class TextEncoder {
    get encoding() {
        return 'utf-8';
    }

    encode(text = '') {
        text = `${text}`;
        const out = new Bytes(text.length * 3);
        return new Bytes(subarray(out, 0, this.encodeInto(text, out).written));
    }

    encodeInto(text, out) {
        let read = 0, written = 0;
        while (read < text.length) {
            let c = codePointAt(text, read);
            const units = c > 0xffff ? 2 : 1, n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
            if (c >= 0xd800 && c <= 0xdfff)
                c = 0xfffd;
            if (written + n > out.length)
                break;
            if (n === 1) {
                out[written] = c;
            } else {
                for (let i = n - 1; i > 0; i--, c >>= 6)
                    out[written + i] = 0x80 | c & 0x3f;
                out[written] = (0xf00 >> n) & 0xff | c;
            }
            written += n;
            read += units;
        }
        return { read, written };
    }
}
const subarray = uncurry(TypedArray.prototype.subarray);

/* One character of UTF-8 at i: [code point, bytes]; [-1, n] for n bytes that are none; [-1, 0] for one cut short. */
function decodeOne(b, i) {
    const c = b[i];
    if (c < 0x80)
        return [c, 1];
    const n = c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (!n)
        return [-1, 1];
    let cp = c & (0xff >> (n + 1));
    for (let k = 1; k < n; k++) {
        const low = k > 1 ? 0x80 : c === 0xe0 ? 0xa0 : c === 0xf0 ? 0x90 : 0x80;
        const high = k > 1 ? 0xbf : c === 0xed ? 0x9f : c === 0xf4 ? 0x8f : 0xbf;
        if (i + k >= b.length)
            return [-1, 0];
        if (b[i + k] < low || b[i + k] > high)
            return [-1, k];
        cp = cp << 6 | b[i + k] & 0x3f;
    }
    return [cp, n];
}

class TextDecoder {
    #fatal;
    #keepBom;
    #rest = new Bytes(0);
    #started = false;

    constructor(label = 'utf-8', options = {}) {
        const name = toLowerCase(trim(`${label}`));
        if (name !== 'utf-8' && name !== 'utf8' && name !== 'unicode-1-1-utf-8')
            throw new RangeErrorType(`TextDecoder knows utf-8 only, not ${show(label)}`);
        this.#fatal = Boolean(options.fatal);
        this.#keepBom = Boolean(options.ignoreBOM);
    }

    get encoding() {
        return 'utf-8';
    }

    get fatal() {
        return this.#fatal;
    }

    get ignoreBOM() {
        return this.#keepBom;
    }

    #input(data) {
        let b = data === undefined ? new Bytes(0) : data instanceof B ? new Bytes(data) :
            new Bytes(data.buffer, data.byteOffset, data.byteLength);
        if (this.#rest.length) {
            const all = new Bytes(this.#rest.length + b.length);
            for (let i = 0; i < this.#rest.length; i++)
                all[i] = this.#rest[i];
            for (let i = 0; i < b.length; i++)
                all[this.#rest.length + i] = b[i];
            b = all;
            this.#rest = new Bytes(0);
        }
        return b;
    }

    decode(data, options = {}) {
        const b = this.#input(data), parts = [];
        let text = '', i = 0;
        while (i < b.length) {
            let [cp, n] = decodeOne(b, i);
            if (n === 0 && options.stream) {
                this.#rest = new Bytes(subarray(b, i));
                break;
            }
            if (cp < 0 && this.#fatal)
                throw new TypeErrorType('the bytes are not valid UTF-8');
            n ||= b.length - i;
            const skip = cp === 0xfeff && !this.#started && !this.#keepBom;
            this.#started = true;
            if (!skip)
                text += cp < 0 ? '\ufffd' : fromCodePoint(cp);
            if (text.length > 4096) {
                push(parts, text);
                text = '';
            }
            i += n;
        }
        if (!options.stream)
            this.#started = false;
        push(parts, text);
        return join(parts, '');
    }
}
const TypeErrorType = TypeError;

/* Form encoding, as URLSearchParams writes it. */
function formEncode(text) {
    let out = '';
    for (const c of encodePart(`${text}`)) {
        const code = charCodeAt(c, 0);
        if (c === '!' || c === "'" || c === '(' || c === ')' || c === '~')
            out += '%' + (code < 16 ? '0' : '') + upper(code.toString(16));
        else
            out += c;
    }
    return replaceAll(out, '%20', '+');
}
const encodePart = encodeURIComponent;
const decodePart = decodeURIComponent;
const upper = uncurry(String.prototype.toUpperCase);

function replaceAll(text, from, to) {
    let out = '';
    for (let at = 0; ;) {
        const next = indexOf(text, from, at);
        if (next < 0)
            return out + slice(text, at);
        out += slice(text, at, next) + to;
        at = next + from.length;
    }
}

function formDecode(text) {
    try {
        return decodePart(replaceAll(text, '+', ' '));
    } catch {
        return text;
    }
}

function splitOn(text, mark) {
    const out = [];
    for (let at = 0; ;) {
        const next = indexOf(text, mark, at);
        push(out, next < 0 ? slice(text, at) : slice(text, at, next));
        if (next < 0)
            return out;
        at = next + mark.length;
    }
}

class URLSearchParams {
    #pairs = [];
    #changed;

    constructor(init = '', changed = noop) {
        this.#changed = noop;
        if (isObject(init)) {
            const pairs = typeof init[Symbol.iterator] === 'function' ? [...init] : keys(init).map((k) => [k, init[k]]);
            for (const [k, v] of pairs)
                this.append(k, v);
        } else {
            this.#parse(`${init}`);
        }
        this.#changed = changed;
    }

    #parse(text) {
        this.#pairs = [];
        if (startsWith(text, '?'))
            text = slice(text, 1);
        for (const part of splitOn(text, '&')) {
            if (!part)
                continue;
            const at = indexOf(part, '=');
            push(this.#pairs, at < 0 ? [formDecode(part), ''] : [formDecode(slice(part, 0, at)), formDecode(slice(part, at + 1))]);
        }
    }

    get size() {
        return this.#pairs.length;
    }

    append(name, value) {
        push(this.#pairs, [`${name}`, `${value}`]);
        this.#changed();
    }

    delete(name) {
        this.#pairs = this.#pairs.filter(([k]) => k !== `${name}`);
        this.#changed();
    }

    get(name) {
        const found = this.#pairs.find(([k]) => k === `${name}`);
        return found ? found[1] : null;
    }

    getAll(name) {
        return this.#pairs.filter(([k]) => k === `${name}`).map(([, v]) => v);
    }

    has(name) {
        return this.#pairs.some(([k]) => k === `${name}`);
    }

    set(name, value) {
        const at = this.#pairs.findIndex(([k]) => k === `${name}`);
        if (at < 0)
            push(this.#pairs, [`${name}`, `${value}`]);
        else
            this.#pairs = this.#pairs.filter(([k], i) => k !== `${name}` || i === at).map((p, i) => (i === at ? [p[0], `${value}`] : p));
        this.#changed();
    }

    sort() {
        this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
        this.#changed();
    }

    forEach(fn, self) {
        for (const [k, v] of this)
            apply(fn, self, [v, k, this]);
    }

    keys() {
        return this.#pairs.map(([k]) => k).values();
    }

    values() {
        return this.#pairs.map(([, v]) => v).values();
    }

    entries() {
        return this.#pairs.map(([k, v]) => [k, v]).values();
    }

    [Symbol.iterator]() {
        return this.entries();
    }

    toString() {
        return join(this.#pairs.map(([k, v]) => `${formEncode(k)}=${formEncode(v)}`), '&');
    }
}

/*
 * http, https, ws, wss, ftp and file with their rules; other schemes as "scheme:rest". No IDNA: a host that is not
 * ASCII is refused, where a browser would encode it.
 */
const ports = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '' };

function percent(text, keep) {
    let out = '';
    for (const c of text) {
        const safe = c > ' ' && c < '\x7f' && c !== '"' && c !== '<' && c !== '>' && (keep || c !== '`' && c !== '{' && c !== '}');
        out += safe ? c : encodePart(c >= '\ud800' && c <= '\udfff' && c.length === 1 ? '\ufffd' : c);
    }
    return out;
}

function dotless(path) {
    const out = [], parts = splitOn(path, '/');
    for (let i = 1; i < parts.length; i++) {
        const p = toLowerCase(replaceAll(replaceAll(parts[i], '%2e', '.'), '%2E', '.')), last = i === parts.length - 1;
        if (p === '..') {
            if (out.length)
                out.length--;
            if (last)
                push(out, '');
        } else if (p !== '.') {
            push(out, parts[i]);
        } else if (last) {
            push(out, '');
        }
    }
    return '/' + join(out, '/');
}

class URL {
    #u;
    #params;

    constructor(url, base) {
        const text = trim(`${url}`);
        this.#u = URL.#read(text, base === undefined ? undefined : new URL(base).#u);
        this.#newParams();
    }

    static canParse(url, base) {
        try {
            return Boolean(new URL(url, base));
        } catch {
            return false;
        }
    }

    static parse(url, base) {
        return URL.canParse(url, base) ? new URL(url, base) : null;
    }

    #newParams() {
        this.#params = new URLSearchParams(this.#u.search, () => {
            const text = this.#params.toString();
            this.#u.search = text ? `?${text}` : '';
        });
    }

    static #invalid(text) {
        return new TypeErrorType(`Invalid URL: ${cut(text, 200)}`);
    }

    static #read(text, base) {
        const m = exec(/^([A-Za-z][A-Za-z0-9+.-]*:)([^?#]*)(\?[^#]*)?(#[^]*)?$/, text);
        if (!m && !base)
            throw URL.#invalid(text);
        const r = m ?? exec(/^()([^?#]*)(\?[^#]*)?(#[^]*)?$/, text);
        const protocol = m ? toLowerCase(m[1]) : base.protocol, special = hasOwn(ports, protocol);
        const u = { protocol, username: '', password: '', hostname: '', port: '', pathname: '', opaque: false,
            search: r[3] && r[3] !== '?' ? percent(r[3], true) : '', hash: r[4] && r[4] !== '#' ? percent(r[4], true) : '' };
        const rest = special ? replaceAll(r[2], '\\', '/') : r[2];
        if (startsWith(rest, '//'))
            return URL.#authority(u, slice(rest, 2), text, special);
        if (m && special && protocol !== 'file:')
            return URL.#authority(u, exec(/^\/*(.*)$/, rest)[1], text, special);
        if (m) {
            u.opaque = !startsWith(rest, '/') && !special;
            u.pathname = u.opaque ? percent(rest, true) : dotless(startsWith(rest, '/') ? percent(rest) : '/' + percent(rest));
            return u;
        }
        if (base.opaque)
            throw URL.#invalid(text);
        for (const k of ['username', 'password', 'hostname', 'port'])
            u[k] = base[k];
        if (rest === '' && !r[3])
            u.search = base.search;
        const from = startsWith(rest, '/') ? '' : slice(base.pathname, 0, lastIndexOf(base.pathname, '/') + 1);
        u.pathname = rest === '' ? base.pathname : dotless(from + percent(rest));
        return u;
    }

    static #authority(u, rest, text, special) {
        const m = exec(/^(?:([^/@]*)@)?(\[[0-9A-Fa-f:.]+\]|[^/:@[\]]*)(?::(\d*))?(\/.*)?$/, rest);
        if (!m || (special && !m[2] && u.protocol !== 'file:') || !exec(/^[\x21-\x7e]*$/, m[2]) || exec(/[\s#%<>^|\\]/, m[2]))
            throw URL.#invalid(text);
        if (m[1]) {
            const at = indexOf(m[1], ':');
            u.username = percent(at < 0 ? m[1] : slice(m[1], 0, at));
            u.password = at < 0 ? '' : percent(slice(m[1], at + 1));
        }
        if (m[3] && +m[3] > 65535)
            throw URL.#invalid(text);
        u.hostname = special ? toLowerCase(m[2]) : m[2];
        u.port = m[3] && `${+m[3]}` !== ports[u.protocol] ? `${+m[3]}` : '';
        u.pathname = m[4] ? dotless(percent(m[4])) : special ? '/' : '';
        return u;
    }

    get protocol() { return this.#u.protocol; }
    get username() { return this.#u.username; }
    get password() { return this.#u.password; }
    get hostname() { return this.#u.hostname; }
    get port() { return this.#u.port; }
    get pathname() { return this.#u.pathname; }
    get search() { return this.#u.search; }
    get hash() { return this.#u.hash; }
    get searchParams() { return this.#params; }

    get host() {
        return this.#u.port ? `${this.#u.hostname}:${this.#u.port}` : this.#u.hostname;
    }

    get origin() {
        return hasOwn(ports, this.#u.protocol) && this.#u.protocol !== 'file:' ? `${this.#u.protocol}//${this.host}` : 'null';
    }

    set protocol(v) { this.#u.protocol = toLowerCase(exec(/^[^:]*/, `${v}`)[0]) + ':'; }
    set username(v) { this.#u.username = encodePart(`${v}`); }
    set password(v) { this.#u.password = encodePart(`${v}`); }
    set hostname(v) { this.#u.hostname = toLowerCase(`${v}`); }
    set port(v) { this.#u.port = `${v}` === ports[this.#u.protocol] ? '' : `${v}`; }
    set hash(v) { this.#u.hash = v ? (startsWith(`${v}`, '#') ? '' : '#') + percent(`${v}`, true) : ''; }
    set href(v) { this.#u = URL.#read(trim(`${v}`)); this.#newParams(); }

    set host(v) {
        const m = exec(/^(.*?)(?::(\d+))?$/, `${v}`);
        this.hostname = m[1];
        this.port = m[2] ?? '';
    }

    set pathname(v) {
        this.#u.pathname = dotless((startsWith(`${v}`, '/') ? '' : '/') + replaceAll(replaceAll(percent(`${v}`), '?', '%3F'), '#', '%23'));
    }

    set search(v) {
        this.#u.search = v ? (startsWith(`${v}`, '?') ? '' : '?') + replaceAll(percent(`${v}`, true), '#', '%23') : '';
        this.#newParams();
    }

    get href() {
        const u = this.#u;
        const who = u.username || u.password ? u.username + (u.password ? `:${u.password}` : '') + '@' : '';
        const slashes = u.hostname || u.protocol === 'file:' ? `//${who}${this.host}` : '';
        return `${u.protocol}${slashes}${u.pathname}${u.search}${u.hash}`;
    }

    toString() { return this.href; }
    toJSON() { return this.href; }
}
