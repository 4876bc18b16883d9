// A page to text, as the body of a script in a sealed VM: input is {html, url, markdown}, the value {text, cut}.
// One pass over the page and no tree: whatever the page is, the work grows with its length alone, and what it holds open
// (lists, quotes, emphasis) is counted and capped. The aim is text that reads well, not a faithful rendering.
'use strict';
const html = input.html, markdown = input.markdown;
const MAX_TEXT = 8 << 20;
const MAX_LINKS = 50000;
const MAX_URL = 2000;
const MAX_QUOTES = 8, MAX_LISTS = 12, MAX_MARKS = 12, MAX_CELLS = 100;

// --- characters ---

// The names of HTML 4; those of Latin 1 stand in order from U+00A0.
const NAMES = new Map([['amp', '&'], ['lt', '<'], ['gt', '>'], ['quot', '"'], ['apos', "'"]]);
('nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para ' +
    'middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave ' +
    'Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute ' +
    'Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave ' +
    'iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml')
    .split(' ').forEach((name, i) => NAMES.set(name, String.fromCharCode(160 + i)));
('OElig=Œ oelig=œ Scaron=Š scaron=š Yuml=Ÿ fnof=ƒ circ=ˆ tilde=˜ Alpha=Α Beta=Β Gamma=Γ Delta=Δ Epsilon=Ε Zeta=Ζ Eta=Η ' +
    'Theta=Θ Iota=Ι Kappa=Κ Lambda=Λ Mu=Μ Nu=Ν Xi=Ξ Omicron=Ο Pi=Π Rho=Ρ Sigma=Σ Tau=Τ Upsilon=Υ Phi=Φ Chi=Χ Psi=Ψ Omega=Ω ' +
    'alpha=α beta=β gamma=γ delta=δ epsilon=ε zeta=ζ eta=η theta=θ iota=ι kappa=κ lambda=λ mu=μ nu=ν xi=ξ omicron=ο pi=π ' +
    'rho=ρ sigmaf=ς sigma=σ tau=τ upsilon=υ phi=φ chi=χ psi=ψ omega=ω ndash=– mdash=— lsquo=‘ rsquo=’ sbquo=‚ ldquo=“ ' +
    'rdquo=” bdquo=„ dagger=† Dagger=‡ bull=• hellip=… permil=‰ prime=′ Prime=″ lsaquo=‹ rsaquo=› oline=‾ frasl=⁄ euro=€ ' +
    'trade=™ larr=← uarr=↑ rarr=→ darr=↓ harr=↔ lArr=⇐ rArr=⇒ hArr=⇔ forall=∀ part=∂ exist=∃ empty=∅ nabla=∇ isin=∈ notin=∉ ' +
    'ni=∋ prod=∏ sum=∑ minus=− lowast=∗ radic=√ prop=∝ infin=∞ ang=∠ and=∧ or=∨ cap=∩ cup=∪ int=∫ there4=∴ sim=∼ cong=≅ ' +
    'asymp=≈ ne=≠ equiv=≡ le=≤ ge=≥ sub=⊂ sup=⊃ nsub=⊄ sube=⊆ supe=⊇ oplus=⊕ otimes=⊗ perp=⊥ sdot=⋅ loz=◊ check=✓')
    .split(' ').forEach((pair) => NAMES.set(pair.slice(0, pair.indexOf('=')), pair.slice(-1)));
const C1 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

function character(code) {
    if (code >= 0x80 && code < 0xa0)
        return C1[code - 0x80];
    if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return '\ufffd';
    return String.fromCodePoint(code);
}

function decode(s) {
    if (!s.includes('&'))
        return s;
    return s.replace(/&(?:#(\d{1,8})|#[xX]([0-9a-fA-F]{1,7})|([a-zA-Z][a-zA-Z0-9]{1,12}));?/g, (all, dec, hex, name) => {
        if (name === undefined)
            return character(dec ? parseInt(dec, 10) : parseInt(hex, 16));
        return NAMES.get(name) ?? all;
    });
}

// White space as \s has it. Runs of it are passed over by hand: the engine's regular expressions keep a state for each step
// of a run, and a page may be one run.
const isSpace = (c) => c === 32 || (c >= 9 && c <= 13) || c === 0xa0 || c === 0xfeff || c === 0x3000 || c === 0x1680 ||
    (c >= 0x2000 && c <= 0x200a) || c === 0x2028 || c === 0x2029 || c === 0x202f || c === 0x205f;
const leads = (s) => isSpace(s.charCodeAt(0));
const tails = (s) => isSpace(s.charCodeAt(s.length - 1));

// One space for each run; s has none at its ends.
function collapse(s) {
    if (!/\s\s|[^\S ]/.test(s))
        return s;
    const parts = [], space = /\s/g, n = s.length;
    for (let at = 0; at < n;) {
        space.lastIndex = at;
        const m = space.exec(s), stop = m ? m.index : n;
        parts.push(s.slice(at, stop));
        for (at = stop + 1; at < n && isSpace(s.charCodeAt(at));)
            at++;
    }
    return parts.join(' ');
}

// Text in pieces, joined now and then, so that a million small ones take no more than their text.
class Pieces {
    size = 0;
    #joined = [];
    #last = [];
    add(s) {
        this.size += s.length;
        if (this.#last.push(s) >= 4096) {
            this.#joined.push(this.#last.join(''));
            this.#last = [];
        }
    }
    text() {
        return this.#joined.join('') + this.#last.join('');
    }
}

// --- what is written ---

const out = new Pieces();
let cut = false;
let line = 0;         // line ends that are due before the next text
let space = false;    // a space is
let begun = false;    // something was written
let fresh = true;     // nothing stands on this line but its prefix
let first = '';       // what the next line of a list begins with: "- ", "1. "
let quotes = 0;
let lists = [];       // {ordered, n}
let marks = [];       // {mark, open}: emphasis
let link = null;      // {url, open}: open from its first text on
let heading = 0;
let sink = null;      // text that is collected: of a cell, of preformatted text, of code

function put(s) {
    if (cut || !s)
        return;
    if (out.size + s.length > MAX_TEXT) {
        cut = true;
        return;
    }
    out.add(s);
    begun = true;
}

function prefix() {
    const depth = Math.min(lists.length, MAX_LISTS);
    const indent = '  '.repeat(Math.max(0, first ? depth - 1 : depth));
    const start = '> '.repeat(Math.min(quotes, MAX_QUOTES)) + indent + first;
    first = '';
    return start;
}

function closeMarks() {
    for (let i = marks.length - 1; i >= 0; i--) {
        if (marks[i].open)
            put(marks[i].mark);
        marks[i].open = false;
    }
}

function closeLink() {
    if (link && link.open) {
        closeMarks();
        put(`](${link.url})`);
    }
    link = null;
}

// Everything that is due before text.
function flush() {
    if (line && (begun || first)) {
        const quote = '> '.repeat(Math.min(quotes, MAX_QUOTES)).trimEnd();
        if (begun)
            put(line > 1 ? `\n${quote}\n` : '\n');
        fresh = true;
    }
    if (fresh) {
        put(prefix());
        space = false;
        if (heading && markdown)
            put('#'.repeat(heading) + ' ');
    }
    line = 0;
    fresh = false;
    if (space)
        put(' ');
    space = false;
    if (link && !link.open) {
        put('[');
        link.open = true;
    }
    for (const m of marks) {
        if (!m.open && !heading)
            put(m.mark);
        m.open = !heading;
    }
}

// A block begins or ends: n line ends are due.
function block(n) {
    if (sink) {
        sink.space = true;
        return;
    }
    if (link && link.open) { // a link stays on its line
        space = true;
        return;
    }
    closeMarks();
    line = Math.max(line, n);
    space = false;
}

function collect(s) {
    if (sink.raw) {
        s = s.replace(/\r\n?/g, '\n');
    } else {
        sink.space = sink.space || leads(s);
        const tail = tails(s);
        s = collapse(s.trim());
        if (s && sink.space && sink.parts.size)
            s = ' ' + s;
        sink.space = s ? tail : sink.space;
    }
    if (out.size + sink.parts.size + s.length > MAX_TEXT)
        cut = true;
    else if (s)
        sink.parts.add(s);
}

function text(s) {
    s = decode(s);
    if (sink) {
        collect(s);
        return;
    }
    if (leads(s))
        space = true;
    const words = s.trim();
    if (!words)
        return;
    flush();
    put(collapse(words));
    space = tails(s);
}

// --- links ---

const known = new Map();
let nLinks = 0;
let base = input.url;

function absolute(href) {
    href = decode(href).trim().replace(/[\t\n\r]/g, '');
    if (!href || href[0] === '#' || href.length > MAX_URL || /^(?:javascript|data|vbscript|blob|about):/i.test(href))
        return null;
    let url = known.get(href);
    if (url !== undefined)
        return url;
    url = null;
    if (++nLinks <= MAX_LINKS) {
        try {
            url = new URL(href, base).href;
        } catch {
            url = null;
        }
        if (url && url.length > MAX_URL)
            url = null;
        if (url)
            url = url.replace(/[() <>]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0'));
    }
    if (known.size < 20000)
        known.set(href, url);
    return url;
}

// --- tables: each row is written when it ends ---

let table = null;     // {columns, cells, captured}: the innermost one that is data
let tables = [];      // all that are open: table objects, or null for those that only place things

// A table with tables, headings or preformatted text in it places things on the page.
function isData(from) {
    const re = /<\/?table[\s>]|<(?:h[1-6]|pre)[\s>]/gi;
    re.lastIndex = from;
    const m = re.exec(html);
    return m !== null && /^<\/table/i.test(m[0]);
}

function endCell() {
    if (!table || !sink || !sink.cell)
        return;
    const s = sink.parts.text().trim();
    sink = null;
    if (table.cells.length < MAX_CELLS)
        table.cells.push(s);
}

function endRow() {
    endCell();
    if (!table || !table.cells.length)
        return;
    const cells = table.cells;
    table.cells = [];
    if (!cells.some((c) => c))
        return;
    if (cells.length === 1 && table.columns <= 1) {
        table.columns = 1;
        block(1);
        flush();
        put(cells[0]);
        return;
    }
    const head = table.columns === 0;
    if (head)
        table.columns = cells.length;
    while (cells.length < table.columns)
        cells.push('');
    line = Math.max(line, 1);
    flush();
    if (!markdown) {
        put(cells.join('\t'));
        return;
    }
    put('| ' + cells.map((c) => c.replace(/\|/g, '\\|')).join(' | ') + ' |');
    if (head) {
        line = 1;
        flush();
        put('|' + ' --- |'.repeat(cells.length));
    }
}

function endTable() {
    if (!tables.length)
        return;
    if (table)
        endRow();
    tables.pop();
    table = tables.length ? tables[tables.length - 1] : null;
    block(2);
}

// --- preformatted text and code ---

function fence(s, least) {
    let longest = 0;
    for (let at = s.indexOf('`'); at >= 0; at = s.indexOf('`', at)) {
        const start = at;
        while (s.charCodeAt(at) === 96)
            at++;
        longest = Math.max(longest, at - start);
    }
    return '`'.repeat(Math.max(least, longest + 1));
}

function endPre() {
    if (!sink || !sink.pre)
        return;
    const s = sink.parts.text().replace(/^\n/, '').trimEnd(), language = sink.language;
    sink = null;
    if (!s)
        return;
    line = 2;
    const mark = markdown ? fence(s, 3) : '';
    if (markdown)
        flush(), put(mark + language), line = 1;
    for (let at = 0, end; at <= s.length; at = end + 1) {
        end = s.indexOf('\n', at);
        end = end < 0 ? s.length : end;
        flush();
        put(s.slice(at, end).trimEnd());
        line = 1;
    }
    if (markdown)
        flush(), put(mark);
    block(2);
}

function endCode() {
    if (!sink || !sink.code)
        return;
    const s = sink.parts.text().trim(), { lead, space: tail } = sink;
    sink = null;
    space = space || lead;
    if (s) {
        flush();
        const mark = markdown ? fence(s, 1) : '', pad = s.startsWith('`') || s.endsWith('`') ? ' ' : '';
        put(markdown ? mark + pad + s + pad + mark : s);
    }
    space = space || tail;
}

// --- tags ---

const BLOCKS = new Set(('address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption ' +
    'figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search ' +
    'section summary table tbody td tfoot th thead tr ul').split(' '));
// Their content is no text of the page.
const RAW = new Set(('script style title xmp iframe noembed noframes template svg select object canvas audio video ' +
    'datalist').split(' '));
const MARK = { b: '**', strong: '**', i: '*', em: '*', cite: '*', s: '~~', del: '~~', strike: '~~' };
const WANTED = new Set(['href', 'src', 'alt', 'start', 'class', 'title']);

function mark(name, open) {
    const m = MARK[name];
    if (!markdown || sink)
        return;
    if (open) {
        if (marks.length < MAX_MARKS && !marks.some((o) => o.mark === m))
            marks.push({ mark: m, open: false, deep: 0 });
        else
            marks.forEach((o) => o.mark === m && o.deep++);
        return;
    }
    const at = marks.findLastIndex((o) => o.mark === m);
    if (at < 0 || marks[at].deep-- > 0)
        return;
    for (let i = marks.length - 1; i >= at; i--) {
        if (marks[i].open)
            put(marks[i].mark);
        marks[i].open = false;
    }
    marks.splice(at, 1);
}

function language(attributes) {
    const m = /(?:^|\s)(?:language|lang|highlight-source|brush:)-?\s*([a-z0-9+#-]{1,20})/i.exec((attributes.class ?? '').slice(0, 200));
    return m ? m[1].toLowerCase() : '';
}

function openTag(name, a, end) {
    if (sink && !sink.cell) {
        if (sink.pre && name === 'code' && !sink.language)
            sink.language = language(a);
        if (name === 'br')
            collect('\n');
        if (sink.pre || !BLOCKS.has(name))
            return;
        endCode(); // it was never closed
    }
    switch (name) {
    case 'br':
        if (sink)
            sink.space = true;
        else if (!link || !link.open)
            closeMarks(), line = Math.max(line, 1), space = false;
        else
            space = true;
        return;
    case 'hr':
        block(2);
        if (markdown && !sink)
            flush(), put('---'), block(2);
        return;
    case 'h1': case 'h2': case 'h3': case 'h4': case 'h5': case 'h6':
        block(2);
        heading = sink ? 0 : Number(name[1]);
        return;
    case 'ul': case 'ol': case 'menu': case 'dir': {
        block(lists.length ? 1 : 2);
        const n = parseInt(a.start ?? '1', 10);
        lists.push({ ordered: name === 'ol', n: Number.isSafeInteger(n) ? n : 1 });
        return;
    }
    case 'li': {
        block(1);
        if (sink)
            return;
        const l = lists[lists.length - 1];
        first = l && l.ordered ? `${l.n++}. ` : '- ';
        return;
    }
    case 'dt':
        block(2);
        return;
    case 'dd':
        block(1);
        if (!sink)
            first = ': ';
        return;
    case 'blockquote':
        block(2);
        quotes += sink ? 0 : 1;
        return;
    case 'pre':
        block(2);
        if (!sink)
            sink = { parts: new Pieces(), raw: true, pre: true, language: language(a) };
        return;
    case 'code': case 'kbd': case 'samp': case 'tt':
        if (!sink)
            sink = { parts: new Pieces(), code: true, space: false, lead: space };
        return;
    case 'a':
        closeLink();
        if (markdown && !sink && a.href !== undefined) {
            const url = absolute(a.href);
            link = url ? { url, open: false } : null;
        }
        return;
    case 'img': {
        const alt = (a.alt ?? '').trim();
        if (!alt)
            return;
        const url = markdown && !sink && !(link && link.open) ? absolute(a.src ?? '') : null;
        text(url ? '' : a.alt);
        if (url) {
            flush();
            put(`![${decode(alt).replace(/[\s[\]]+/g, ' ').trim()}](${url})`);
        }
        return;
    }
    case 'table':
        block(2);
        tables.push(!sink && isData(end) ? { columns: 0, cells: [] } : null);
        table = tables[tables.length - 1];
        return;
    case 'tr':
        if (table)
            endRow();
        else
            block(1);
        return;
    case 'td': case 'th':
        if (!table) {
            block(1);
            return;
        }
        endCell();
        if (!sink)
            closeLink(), closeMarks(), sink = { parts: new Pieces(), cell: true, space: false };
        return;
    case 'base':
        if (a.href !== undefined)
            try {
                base = new URL(decode(a.href), input.url).href;
            } catch {
                base = input.url;
            }
        return;
    }
    if (MARK[name])
        mark(name, true);
    else if (BLOCKS.has(name))
        block(name === 'p' || name === 'section' || name === 'article' ? 2 : 1);
}

function closeTag(name) {
    if (sink && sink.pre) {
        if (name === 'pre')
            endPre();
        return;
    }
    if (sink && sink.code) {
        if (name !== 'code' && name !== 'kbd' && name !== 'samp' && name !== 'tt' && !BLOCKS.has(name))
            return;
        endCode();
    }
    switch (name) {
    case 'h1': case 'h2': case 'h3': case 'h4': case 'h5': case 'h6':
        block(2);
        heading = 0;
        return;
    case 'ul': case 'ol': case 'menu': case 'dir':
        if (!sink)
            lists.pop();
        first = '';
        block(lists.length ? 1 : 2);
        return;
    case 'blockquote':
        block(2);
        quotes = Math.max(0, quotes - (sink ? 0 : 1));
        return;
    case 'a':
        closeLink();
        return;
    case 'td': case 'th':
        endCell();
        return;
    case 'tr':
        if (table)
            endRow();
        else
            block(1);
        return;
    case 'table':
        endTable();
        return;
    case 'p':
        block(2);
        return;
    }
    if (MARK[name])
        mark(name, false);
    else if (BLOCKS.has(name))
        block(1);
}

// --- the page ---

let title = '';
const SPACE = (c) => c === 32 || c === 9 || c === 10 || c === 12 || c === 13;

// From after the name of a tag: its attributes of interest, and where it ends; -1 when the page ends first.
function readTag(at) {
    const attributes = {};
    const n = html.length;
    while (at < n) {
        let c = html.charCodeAt(at);
        if (SPACE(c) || c === 47) {
            at++;
            continue;
        }
        if (c === 62)
            return { attributes, end: at + 1 };
        const start = at++;
        while (at < n && !SPACE(c = html.charCodeAt(at)) && c !== 47 && c !== 62 && c !== 61)
            at++;
        const stop = at;
        while (at < n && SPACE(html.charCodeAt(at)))
            at++;
        if (html.charCodeAt(at) !== 61)
            continue;
        at++;
        while (at < n && SPACE(html.charCodeAt(at)))
            at++;
        c = html.charCodeAt(at);
        let from = at;
        if (c === 34 || c === 39) {
            from = at + 1;
            at = html.indexOf(c === 34 ? '"' : "'", from);
            if (at < 0)
                return { attributes, end: -1 };
        } else {
            while (at < n && !SPACE(c = html.charCodeAt(at)) && c !== 62)
                at++;
        }
        if (stop - start <= 5) {
            const name = html.slice(start, stop).toLowerCase();
            if (WANTED.has(name) && !(name in attributes) && at - from <= 8192)
                attributes[name] = html.slice(from, at);
        }
        if (c === 34 || c === 39)
            at++;
    }
    return { attributes, end: -1 };
}

// Where an element whose content is no markup for us ends.
const ends = new Map();
function skipRaw(name, from) {
    let re = ends.get(name);
    if (!re)
        ends.set(name, re = new RegExp(`</${name}[\\s/>]`, 'gi'));
    re.lastIndex = from;
    const m = re.exec(html), stop = m ? m.index : html.length, end = html.indexOf('>', stop);
    return { stop, end: end < 0 ? html.length : end + 1 };
}

function skipDeclaration(at) {
    if (html.startsWith('<!--', at)) {
        if (html.startsWith('<!-->', at))
            return at + 5;
        const end = html.indexOf('-->', at + 4);
        return end < 0 ? html.length : end + 3;
    }
    const cdata = html.startsWith('<![CDATA[', at);
    const end = html.indexOf(cdata ? ']]>' : '>', at);
    return end < 0 ? html.length : end + (cdata ? 3 : 1);
}

const START = /<(?:[a-zA-Z]|\/[a-zA-Z]|[!?])/g;

// The name of a tag that begins at `at`, and where it ends.
function readName(at) {
    const start = at;
    for (let c = html.charCodeAt(at); at < html.length && !SPACE(c) && c !== 47 && c !== 62; c = html.charCodeAt(at))
        at++;
    return { name: at - start > 20 ? 'unknown' : html.slice(start, at).toLowerCase(), end: at };
}

function page() {
    let at = 0;
    const n = html.length;
    while (at < n && !cut) {
        START.lastIndex = at;
        const m = START.exec(html);
        const stop = m ? m.index : n;
        if (stop > at)
            text(html.slice(at, stop));
        if (!m)
            return;
        const c = html[stop + 1];
        if (c === '!' || c === '?') {
            at = skipDeclaration(stop);
            continue;
        }
        const closing = c === '/';
        const { name, end: after } = readName(stop + (closing ? 2 : 1));
        const { attributes, end } = readTag(after);
        if (end < 0)
            return;
        at = end;
        if (closing) {
            closeTag(name);
        } else if (RAW.has(name)) {
            if (html[end - 2] === '/' && name === 'svg')
                continue;
            const raw = skipRaw(name, end);
            if (name === 'title' && !title)
                title = decode(html.slice(end, Math.min(raw.stop, end + 1000))).trim().replace(/\s+/g, ' ');
            if (name === 'xmp')
                text(html.slice(end, raw.stop).replace(/&/g, '&amp;'));
            at = raw.end;
        } else {
            openTag(name, attributes, end);
        }
    }
}

page();
endPre();
endCode();
while (tables.length)
    endTable();
closeLink();
closeMarks();
let whole = out.text().replace(/[\u{e0000}-\u{e007f}]/gu, '').trim();
if (title && !/<h1[\s>]/i.test(html))
    whole = `${markdown ? '# ' : ''}${title}\n\n${whole}`.trim();
return { text: whole, cut };
