#include "table/source_int.h"

#include "base/fdstat.h"
#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define HEAD ((size_t)1 << 20) /* what the encoding is found from */
#define PIECE                                                                                               \
    ((size_t)256 << 10)           /* of one read(2), and of one conversion: stays in the second-level cache \
                                   */
#define SAMPLE ((size_t)64 << 10) /* for the guess of an encoding */
#define SURE 64                   /* that many characters beyond ASCII in a row are UTF-8 by no accident */

/* The bytes of the file in order, unpacked. Two of them: the one that is read from, hashed and reported, and
 * one that looks ahead by pread(2). */
struct bytes {
    struct al_source *s;
    bool ahead;
    uint64_t at; /* of the file; for pread */
    uint64_t unpacked;
    bool end;
    bool gz, gz_open, gz_member; /* gz_member: inside of one */
    z_stream z;
    unsigned char *in;
};

struct al_source {
    int fd;
    uint64_t max_bytes;
    const struct al_table_sink *sink;
    struct stat opened;
    struct al_sha256 *sha;
    uint64_t file_bytes;
    bool file_end;
    struct bytes main;
    char *buf; /* HEAD bytes and room for a cut character */
    size_t at, n;
    uint64_t offset, lines; /* of the text before buf + at */
    struct al_enc_choice choice;
    struct al_enc_conv conv;
    bool sure, bad_noted;
    struct al_buf out;
};

static int limit_failed(struct al_err *err, bool gz, uint64_t max)
{
    al_fail(err, AL_INGEST_LIMIT, "the file %s more than %llu bytes", gz ? "unpacks to" : "has",
            (unsigned long long)max);
    return al_hint(err, "raise analysis.data.maxUploadBytes, or take a part of the file");
}

static int file_read(struct bytes *b, void *p, size_t cap, size_t *ret_n, struct al_err *err)
{
    struct al_source *s = b->s;
    ssize_t n;
    do {
        n = b->ahead ? pread(s->fd, p, cap, (off_t)b->at) : read(s->fd, p, cap);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return al_fail_errno(err, AL_INGEST_INVALID, errno, "cannot read the file");
    *ret_n = (size_t)n;
    b->at += (uint64_t)n;
    if (!b->ahead) {
        al_sha256_add(s->sha, p, (size_t)n);
        s->file_bytes = b->at;
        s->file_end = n == 0;
    }
    if (s->max_bytes && b->at > s->max_bytes)
        return limit_failed(err, false, s->max_bytes);
    return s->sink->progress ? s->sink->progress(s->sink->ud, s->file_bytes, err) : 0;
}

static int gz_damaged(struct bytes *b, const char *what, struct al_err *err)
{
    al_fail(err, AL_INGEST_INVALID, "the gzip file %s (after %llu bytes of text)", what,
            (unsigned long long)b->unpacked);
    return al_hint(err, "get the file anew: gzip -t names the same fault");
}

/* What stands behind the last member: padding and whatever else is no text of the file. */
static void gz_garbage(struct bytes *b)
{
    bool zeros = true;
    for (unsigned i = 0; i < b->z.avail_in; i++)
        zeros = zeros && b->z.next_in[i] == 0;
    if (!b->ahead && !zeros)
        b->s->sink->note(b->s->sink->ud, AL_NOTE_OTHER, 0,
                         "bytes behind the end of the gzip data are not read");
    b->end = true;
}

/* RFC 1952: members follow one another. */
static int gz_read(struct bytes *b, char *p, size_t cap, size_t *ret_n, struct al_err *err)
{
    *ret_n = 0;
    while (!b->end && *ret_n == 0) {
        if (b->z.avail_in < 2 && (b->z.avail_in == 0 || !b->gz_member)) {
            size_t n, kept = b->z.avail_in;
            if (kept)
                b->in[0] = *b->z.next_in;
            if (file_read(b, b->in + kept, PIECE - kept, &n, err) < 0)
                return -1;
            b->z.next_in = b->in;
            b->z.avail_in = (unsigned)(n + kept);
            if (n == 0 && b->gz_member)
                return gz_damaged(b, "ends in the middle", err);
            if (n == 0 && b->z.avail_in == 0) {
                b->end = true;
                break;
            }
        }
        if (!b->gz_member) {
            if (b->z.avail_in < 2 || b->z.next_in[0] != 0x1f || b->z.next_in[1] != 0x8b) {
                gz_garbage(b);
                break;
            }
            inflateReset(&b->z);
            b->gz_member = true;
        }
        b->z.next_out = (unsigned char *)p;
        b->z.avail_out = (unsigned)cap;
        int r = inflate(&b->z, Z_NO_FLUSH);
        if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
            return gz_damaged(b, "is damaged", err);
        b->gz_member = r != Z_STREAM_END;
        *ret_n = cap - b->z.avail_out;
        b->unpacked += *ret_n;
        if (b->s->max_bytes && b->unpacked > b->s->max_bytes)
            return limit_failed(err, true, b->s->max_bytes);
    }
    return 0;
}

/* At most cap bytes, fewer only at the end. */
static int bytes_read(struct bytes *b, char *p, size_t cap, size_t *ret_n, struct al_err *err)
{
    size_t all = 0;
    while (all < cap && !b->end) {
        size_t n, ask = cap - all < PIECE ? cap - all : PIECE;
        if ((b->gz ? gz_read(b, p + all, ask, &n, err) : file_read(b, p + all, ask, &n, err)) < 0)
            return -1;
        all += n;
        b->end = b->end || (!b->gz && n == 0);
    }
    *ret_n = all;
    return 0;
}

static int bytes_open(struct bytes *b, struct al_source *s, bool gz, bool ahead, struct al_err *err)
{
    *b = (struct bytes){.s = s, .gz = gz, .ahead = ahead};
    if (!gz)
        return 0;
    if (inflateInit2(&b->z, 15 + 16) != Z_OK)
        return al_fail(err, AL_INTERNAL, "cannot start to unpack gzip");
    b->gz_open = true;
    b->in = al_xmalloc(PIECE);
    return 0;
}

static void bytes_close(struct bytes *b)
{
    if (b->gz_open)
        inflateEnd(&b->z);
    free(b->in);
    b->gz_open = false;
    b->in = NULL;
}

/* What a look through the text found. */
struct look {
    uint64_t bad, multi, total;
    struct al_buf sample; /* lines with bytes beyond ASCII */
    char held[4];         /* the start of a character that a piece cut */
    size_t n_held;
};

static void look_sample(struct look *k, struct al_str piece)
{
    size_t i = 0;
    while (i < piece.n && k->sample.n < SAMPLE) {
        if ((unsigned char)piece.p[i] < 0x80) {
            i++;
            continue;
        }
        size_t from = i, to = i;
        while (from > 0 && i - from < 256 && piece.p[from - 1] != '\n')
            from--;
        while (to < piece.n && to - i < 1024 && piece.p[to] != '\n')
            to++;
        al_buf_add(&k->sample, piece.p + from, to - from);
        al_buf_addc(&k->sample, '\n');
        i = to + 1;
    }
}

static void look_at(struct look *k, struct al_str piece, bool last)
{
    uint64_t lines = 0;
    look_sample(k, piece);
    k->total += piece.n;
    while (piece.n) {
        bool cut;
        size_t ok = al_utf8_span(piece, &lines, &k->multi, &cut);
        piece = (struct al_str){piece.p + ok, piece.n - ok};
        if (piece.n == 0)
            return;
        if (cut && !last) {
            k->n_held = piece.n;
            memcpy(k->held, piece.p, piece.n);
            return;
        }
        size_t bad = al_utf8_bad(piece);
        k->bad++;
        piece = (struct al_str){piece.p + bad, piece.n - bad};
    }
}

static bool look_enough(const struct look *k)
{
    return k->bad == 0 && k->multi >= SURE;
}

/* Looks through what is not read yet, behind the piece that is in memory. */
static int look_ahead(struct al_source *s, struct look *k, struct al_err *err)
{
    struct bytes b;
    if (bytes_open(&b, s, s->main.gz, true, err) < 0)
        return -1;
    uint64_t skip = s->offset + s->n;
    if (!b.gz) {
        b.at = s->file_bytes;
        skip = 0;
    }
    char *room = al_xmalloc(PIECE + 4);
    int r = 0;
    while (r == 0 && !b.end && !look_enough(k)) {
        size_t n, held = k->n_held;
        memcpy(room, k->held, held);
        r = bytes_read(&b, room + held, PIECE, &n, err);
        if (r < 0)
            break;
        if (skip >= n) {
            skip -= n;
            continue;
        }
        if (skip)
            memmove(room + held, room + held + skip, n - skip);
        n -= skip;
        skip = 0;
        k->n_held = 0;
        look_at(k, (struct al_str){room, n + held}, b.end);
    }
    free(room);
    bytes_close(&b);
    return r;
}

static int use(struct al_source *s, const struct al_enc_choice *choice, struct al_err *err)
{
    s->choice = *choice;
    s->sure = true;
    if (choice->enc == AL_ENC_UTF8)
        return 0;
    if (!al_enc_conv_init(&s->conv, choice))
        return al_fail(err, AL_DATASET_UNSUPPORTED, "the encoding %s cannot be read here", choice->name);
    s->sink->note(s->sink->ud, AL_NOTE_ENCODING, 0, "read as %s: %s", choice->name, choice->why);
    return 0;
}

/*
 * The text has bytes beyond ASCII: is it UTF-8? Bytes in memory first, then as much of the file as it takes.
 * A few bad bytes (0.1 %) among more good ones are damage; bad bytes alone are another encoding.
 */
static int settle(struct al_source *s, struct al_err *err)
{
    struct look k = {.sample = AL_BUF_INIT(2 * SAMPLE)};
    struct al_str here = {s->buf + s->at, s->n - s->at};
    uint64_t before = s->offset;
    look_at(&k, here, s->main.end);
    /* offset is where buf + at stands; look_ahead goes on behind buf + n. */
    s->offset = before - s->at;
    int r = k.bad || !look_enough(&k) ? look_ahead(s, &k, err) : 0;
    s->offset = before;
    if (r == 0) {
        struct al_enc_choice choice = {.enc = AL_ENC_UTF8, .name = "UTF-8"};
        bool utf8 = k.bad == 0 || (k.multi > k.bad && k.bad * 1000 <= before + k.total);
        if (!utf8)
            al_enc_by_guess(al_buf_str(&k.sample), &choice);
        r = use(s, &choice, err);
    }
    al_buf_free(&k.sample);
    return r;
}

static int find_encoding(struct al_source *s, const char *forced, struct al_err *err)
{
    struct al_str head = {s->buf, s->n};
    struct al_enc_choice choice, form;
    bool by_form = al_enc_by_form(head, &form);
    if (forced[0]) {
        if (!al_enc_by_name(forced, &choice)) {
            al_fail(err, AL_DATASET_UNSUPPORTED, "no encoding \"%.39s\" is known here", forced);
            return al_hint(err, al_icu_there()
                                    ? "names are those of ICU: UTF-8, windows-1252, Shift_JIS, …"
                                    : "without ICU (libicu) only UTF-8, UTF-16, UTF-32, latin1 and "
                                      "windows-1252 can be read");
        }
        /* "utf-16" alone leaves the order of the bytes to the mark. */
        if (by_form && form.bom && strncmp(form.name, choice.name, 6) == 0)
            choice = form;
    } else if (by_form) {
        choice = form;
    } else {
        choice = (struct al_enc_choice){.enc = AL_ENC_UTF8, .name = "UTF-8"};
        s->choice = choice;
        return 0;
    }
    s->at = s->offset = choice.bom;
    return use(s, &choice, err);
}

int al_source_open(int fd, bool gzip, const struct al_table_opts *opts, const struct al_table_sink *sink,
                   struct al_source **ret, struct al_err *err)
{
    struct al_source *s = al_xcalloc(1, sizeof *s);
    s->fd = fd;
    s->sink = sink;
    s->max_bytes = opts->max_bytes;
    s->sha = al_sha256_new();
    al_buf_init(&s->out, 4 * PIECE + 64);
    int r = 0;
    if (al_fstat(fd, &s->opened) < 0)
        r = al_fail_errno(err, AL_INGEST_INVALID, errno, "cannot read the file");
    else if (s->max_bytes && (uint64_t)s->opened.st_size > s->max_bytes)
        r = limit_failed(err, false, s->max_bytes);
    if (r == 0)
        r = bytes_open(&s->main, s, gzip, false, err);
    /* A small file needs little memory. The size is believed no further than that. */
    size_t head = !gzip && s->opened.st_size >= 0 && (uint64_t)s->opened.st_size < HEAD
                      ? (size_t)s->opened.st_size + PIECE
                      : HEAD;
    s->buf = al_xmalloc(head + 64);
    if (r == 0)
        r = bytes_read(&s->main, s->buf, head, &s->n, err);
    if (r == 0)
        r = find_encoding(s, opts->encoding, err);
    if (r < 0) {
        al_source_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

static int refill(struct al_source *s, struct al_err *err)
{
    size_t left = s->n - s->at, n;
    if (left >= 4 || s->main.end)
        return 0;
    memmove(s->buf, s->buf + s->at, left);
    s->at = 0;
    s->n = left;
    if (bytes_read(&s->main, s->buf + left, PIECE, &n, err) < 0)
        return -1;
    s->n += n;
    return 0;
}

static void took(struct al_source *s, size_t n)
{
    s->at += n;
    s->offset += n;
}

/* Bytes that are no UTF-8 stand at the start of piece: writes it up to the next long stretch of good text. */
static void replace(struct al_source *s, struct al_str piece, bool last)
{
    uint64_t multi = 0;
    while (piece.n && s->out.n < SAMPLE) {
        bool cut;
        size_t look = piece.n < 512 ? piece.n : 512;
        size_t ok = al_utf8_span((struct al_str){piece.p, look}, &s->lines, &multi, &cut);
        al_buf_add(&s->out, piece.p, ok);
        took(s, ok);
        piece = (struct al_str){piece.p + ok, piece.n - ok};
        if (piece.n == 0 || (cut && look - ok < piece.n) || (cut && !last))
            return;
        if (ok == look)
            return;
        size_t bad = al_utf8_bad(piece);
        s->sink->note(s->sink->ud, AL_NOTE_INVALID_BYTES, s->lines + 1,
                      "byte %llu (0x%02x) is no valid UTF-8: it became U+FFFD", (unsigned long long)s->offset,
                      (unsigned char)piece.p[0]);
        al_buf_adds(&s->out, "\xef\xbf\xbd");
        took(s, bad);
        piece = (struct al_str){piece.p + bad, piece.n - bad};
    }
}

static void convert(struct al_source *s, struct al_str piece, bool last)
{
    uint64_t bad = 0;
    al_enc_conv_do(&s->conv, piece, last, &s->out, &bad);
    if (bad && !s->bad_noted)
        s->sink->note(s->sink->ud, AL_NOTE_INVALID_BYTES, 0,
                      "bytes near %llu are no characters in %s: they became U+FFFD",
                      (unsigned long long)s->offset, s->choice.name);
    s->bad_noted = s->bad_noted || bad;
    took(s, piece.n);
}

int al_source_next(struct al_source *s, struct al_str *ret, struct al_err *err)
{
    for (;;) {
        if (refill(s, err) < 0)
            return -1;
        al_buf_clear(&s->out);
        struct al_str piece = {s->buf + s->at, s->n - s->at};
        *ret = (struct al_str){piece.p, 0};
        bool last = s->main.end && piece.n <= PIECE;
        if (piece.n == 0 &&
            (s->choice.enc == AL_ENC_UTF8 || (!s->conv.n_held && !s->conv.high && !s->conv.icu)))
            return 0;
        if (piece.n > PIECE)
            piece.n = PIECE;
        if (s->choice.enc != AL_ENC_UTF8) {
            bool done = piece.n == 0;
            convert(s, piece, last);
            *ret = al_buf_str(&s->out);
            if (ret->n || done)
                return 0;
            continue;
        }
        bool cut;
        uint64_t multi = 0, lines = 0;
        size_t ok = al_utf8_span(piece, &lines, &multi, &cut);
        if (!s->sure && (multi || ok < piece.n)) {
            if (settle(s, err) < 0)
                return -1;
            continue;
        }
        if (ok) {
            s->lines += lines;
            took(s, ok);
            ret->n = ok;
            return 0;
        }
        replace(s, piece, last);
        *ret = al_buf_str(&s->out);
        if (ret->n)
            return 0;
    }
}

const char *al_source_encoding(const struct al_source *s)
{
    return s->choice.name;
}

uint64_t al_source_bytes(const struct al_source *s)
{
    return s->file_bytes;
}

int al_source_sha256(struct al_source *s, char ret[65], struct al_err *err)
{
    size_t n = 1;
    while (!s->file_end) {
        if (file_read(&s->main, s->buf, PIECE, &n, err) < 0)
            return -1;
        s->at = s->n = 0;
    }
    struct stat now;
    if (al_fstat(s->fd, &now) < 0)
        return al_fail_errno(err, AL_INGEST_INVALID, errno, "cannot read the file");
    if (now.st_ino != s->opened.st_ino || now.st_size != s->opened.st_size ||
        (uint64_t)now.st_size != s->file_bytes || now.st_mtim.tv_sec != s->opened.st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != s->opened.st_mtim.tv_nsec) {
        al_fail(err, AL_INGEST_INVALID, "the file changed while it was read");
        return al_hint(err, "try again when nothing writes to it");
    }
    if (s->sha)
        al_sha256_end(s->sha, ret);
    s->sha = NULL;
    return 0;
}

void al_source_free(struct al_source *s)
{
    if (!s)
        return;
    char none[65];
    if (s->sha)
        al_sha256_end(s->sha, none);
    bytes_close(&s->main);
    al_enc_conv_fini(&s->conv);
    al_buf_free(&s->out);
    free(s->buf);
    free(s);
}
