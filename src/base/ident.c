#define OPENSSL_SUPPRESS_DEPRECATED /* see al_sha256 */
#include "base/ident.h"

#include "base/mem.h"

#include <errno.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define ULID_LEN 26
#define ULID_RANDOM 10

static const char crockford[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

static _Noreturn void broken(const char *what)
{
    fprintf(stderr, "alisio: %s\n", what);
    abort();
}

void al_random(void *p, size_t n)
{
    char *at = p;
    while (n) {
        ssize_t r = getrandom(at, n, 0);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            broken("the kernel gives no random numbers");
        at += r;
        n -= (size_t)r;
    }
}

/* The last id of this process. A forked child must not go on counting from its parent's. */
static struct {
    pthread_mutex_t lock;
    pid_t pid;
    uint64_t ms;
    unsigned char random[ULID_RANDOM];
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Within a millisecond (or when the clock went back) the next id is the last one plus 1. */
static void next_ulid(uint64_t *ret_ms, unsigned char random[ULID_RANDOM])
{
    uint64_t now = (uint64_t)al_wall_ms();
    pthread_mutex_lock(&last.lock);
    if (now > last.ms || last.pid != getpid()) {
        last.ms = now > last.ms ? now : last.ms;
        last.pid = getpid();
        al_random(last.random, ULID_RANDOM);
        last.random[0] &= 0x7f; /* 2^79 steps before the counter would wrap */
    } else {
        for (int i = ULID_RANDOM - 1; i >= 0 && ++last.random[i] == 0; i--)
            continue;
    }
    *ret_ms = last.ms;
    memcpy(random, last.random, ULID_RANDOM);
    pthread_mutex_unlock(&last.lock);
}

static size_t prefix_len(const char *prefix, bool *ret_add_line)
{
    size_t n = strlen(prefix);
    *ret_add_line = n && prefix[n - 1] != '_';
    return n;
}

void al_id_new(char out[AL_ID_MAX], const char *prefix)
{
    bool add_line;
    size_t at = prefix_len(prefix, &add_line);
    if (at + add_line + ULID_LEN + 1 > AL_ID_MAX)
        broken("the prefix of an id is too long");
    memcpy(out, prefix, at);
    if (add_line)
        out[at++] = '_';
    uint64_t ms;
    unsigned char random[ULID_RANDOM];
    next_ulid(&ms, random);
    for (int i = 9; i >= 0; i--, ms >>= 5)
        out[at + (size_t)i] = crockford[ms & 31];
    at += 10;
    uint32_t bits = 0, n_bits = 0;
    for (int i = 0; i < ULID_RANDOM; i++) {
        bits = bits << 8 | random[i];
        for (n_bits += 8; n_bits >= 5; n_bits -= 5)
            out[at++] = crockford[bits >> (n_bits - 5) & 31];
    }
    out[at] = '\0';
}

bool al_id_valid(struct al_str id, const char *prefix)
{
    bool add_line;
    size_t n = prefix_len(prefix, &add_line);
    if (id.n != n + add_line + ULID_LEN || !al_str_starts(id, prefix) || (add_line && id.p[n] != '_'))
        return false;
    const char *ulid = id.p + n + add_line;
    if (ulid[0] > '7') /* 26 digits hold 130 bits, an id 128 */
        return false;
    for (int i = 0; i < ULID_LEN; i++) {
        if (!ulid[i] || !strchr(crockford, ulid[i]))
            return false;
    }
    return true;
}

int64_t al_id_time_ms(struct al_str id)
{
    if (id.n < ULID_LEN)
        return -1;
    const char *ulid = id.p + id.n - ULID_LEN;
    int64_t ms = 0;
    if (ulid[0] > '7')
        return -1;
    for (int i = 0; i < 10; i++) { /* ten digits of time, five bits each */
        const char *digit = ulid[i] ? strchr(crockford, ulid[i]) : NULL;
        if (!digit)
            return -1;
        ms = ms << 5 | (digit - crockford);
    }
    return ms;
}

static struct timespec clock_now(clockid_t clock)
{
    struct timespec ts;
    if (clock_gettime(clock, &ts) < 0)
        broken("no clock");
    return ts;
}

int64_t al_wall_ms(void)
{
    struct timespec ts = clock_now(CLOCK_REALTIME);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

uint64_t al_mono_ns(void)
{
    struct timespec ts = clock_now(CLOCK_MONOTONIC);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t al_mono_ms(void)
{
    return al_mono_ns() / 1000000;
}

static time_t split_ms(int64_t wall_ms, int *ret_ms)
{
    int64_t s = wall_ms / 1000;
    int ms = (int)(wall_ms % 1000);
    if (ms < 0) {
        ms += 1000;
        s--;
    }
    *ret_ms = ms;
    return (time_t)s;
}

void al_time_iso(char out[AL_TIME_MAX], int64_t wall_ms)
{
    struct tm tm = {0};
    int ms;
    time_t s = split_ms(wall_ms, &ms);
    gmtime_r(&s, &tm);
    char text[96];
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900, tm.tm_mon + 1,
             tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, ms);
    snprintf(out, AL_TIME_MAX, "%.*s", AL_TIME_MAX - 1, text);
}

void al_time_local(char out[AL_TIME_MAX], int64_t wall_ms)
{
    struct tm tm = {0};
    int ms;
    time_t s = split_ms(wall_ms, &ms);
    tzset(); /* localtime_r(3) need not do it */
    localtime_r(&s, &tm);
    char text[96];
    snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
             tm.tm_hour, tm.tm_min, tm.tm_sec);
    snprintf(out, AL_TIME_MAX, "%.*s", AL_TIME_MAX - 1, text);
}

/* Not through EVP: that brings most of libcrypto, reads its configuration before the first hash, and chooses among
 * providers by name. This is one object, with the processor's own instructions where it has them. */
struct al_sha256 {
    SHA256_CTX ctx;
};

struct al_sha256 *al_sha256_new(void)
{
    struct al_sha256 *h = al_xcalloc(1, sizeof *h);
    if (SHA256_Init(&h->ctx) != 1)
        broken("SHA-256 is not available in libcrypto");
    return h;
}

void al_sha256_add(struct al_sha256 *h, const void *p, size_t n)
{
    if (n && SHA256_Update(&h->ctx, p, n) != 1)
        broken("SHA-256 failed");
}

void al_sha256_end(struct al_sha256 *h, char out[AL_SHA256_HEX])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char sum[SHA256_DIGEST_LENGTH];
    if (SHA256_Final(sum, &h->ctx) != 1)
        broken("SHA-256 failed");
    for (unsigned i = 0; i < sizeof sum; i++) {
        out[2 * i] = hex[sum[i] >> 4];
        out[2 * i + 1] = hex[sum[i] & 15];
    }
    out[2 * sizeof sum] = '\0';
    free(h);
}

void al_sha256(struct al_str s, char out[AL_SHA256_HEX])
{
    struct al_sha256 *h = al_sha256_new();
    al_sha256_add(h, s.p, s.n);
    al_sha256_end(h, out);
}

#define SLUG_MAX 32

/* The last part of the path, in [a-z0-9-], so that the folder says what it belongs to. */
static size_t make_slug(char out[SLUG_MAX], struct al_str path)
{
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    const char *base = path.n ? memrchr(path.p, '/', path.n) : NULL;
    const char *at = base ? base + 1 : path.p;
    size_t n = 0;
    for (const char *end = path.p + path.n; at < end && n < SLUG_MAX; at++) {
        char c = *at >= 'A' && *at <= 'Z' ? (char)(*at + 32) : *at;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            out[n++] = c;
        else if (n && out[n - 1] != '-')
            out[n++] = '-';
    }
    while (n && out[n - 1] == '-')
        n--;
    if (n == 0) {
        memcpy(out, "root", 4);
        n = 4;
    }
    return n;
}

void al_workspace_key(char out[AL_WORKSPACE_KEY_MAX], const char *real_path)
{
    char sum[AL_SHA256_HEX], slug[SLUG_MAX];
    struct al_str path = al_str_of(real_path);
    size_t n = make_slug(slug, path);
    al_sha256(path, sum);
    snprintf(out, AL_WORKSPACE_KEY_MAX, "%.*s-%.12s", (int)n, slug, sum);
}
