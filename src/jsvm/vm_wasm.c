#include "jsvm/vm.h"

#include <string.h>
#include <time.h>

struct al_vm_state al_vm;

/* The translated code hands these back to the imports; there is one instance, so they carry nothing. */
struct Z_env_instance_t {
    char unused;
};
struct Z_wasi_snapshot_preview1_instance_t {
    char unused;
};
static struct Z_env_instance_t env;
static struct Z_wasi_snapshot_preview1_instance_t wasi;

enum {
    WASI_OK = 0,
    WASI_BADF = 8,
    WASI_FAULT = 21,
    WASI_NOSYS = 52
};

void *al_vm_view(u32 p, u64 n)
{
    const wasm_rt_memory_t *m = &al_vm.q.w2c_memory;
    uint64_t size = (uint64_t)m->pages << 16;
    if (n > size || p > size - n)
        return NULL;
    return m->data + p;
}

u32 al_vm_alloc(u32 n)
{
    u32 p = Z_quickjsZ_wasm_malloc(&al_vm.q, n ? n : 1);
    return p && al_vm_view(p, n) ? p : 0;
}

void al_vm_release(u32 p)
{
    if (p)
        Z_quickjsZ_wasm_free(&al_vm.q, p);
}

static bool guest_put(u32 p, const void *from, size_t n)
{
    void *to = al_vm_view(p, n);
    if (to && n)
        memcpy(to, from, n);
    return to != NULL;
}

/* A zero-terminated copy in guest memory, or 0. */
static u32 guest_dup(struct al_str s)
{
    u32 p = s.n < ((u32)1 << 31) ? al_vm_alloc((u32)s.n + 1) : 0;
    if (p && guest_put(p, s.p, s.n) && guest_put(p + (u32)s.n, "", 1))
        return p;
    return 0;
}

al_vm_value al_vm_new_string(struct al_str s)
{
    u32 p = guest_dup(s);
    if (!p)
        return 0;
    al_vm_value v = Z_quickjsZ_qjs_new_string(&al_vm.q, p, (u32)s.n);
    al_vm_release(p);
    return v;
}

bool al_vm_text_get(al_vm_value v, struct al_vm_text *ret)
{
    u32 n_at = al_vm_alloc(4), n = 0;
    const u32 *np = al_vm_view(n_at, 4);
    if (!n_at || !np || !Z_quickjsZ_qjs_is_string(&al_vm.q, v)) {
        al_vm_release(n_at);
        return false;
    }
    ret->p = Z_quickjsZ_qjs_get_string_len(&al_vm.q, v, n_at);
    memcpy(&n, al_vm_view(n_at, 4), 4);
    al_vm_release(n_at);
    ret->s = (struct al_str){ret->p ? al_vm_view(ret->p, n) : NULL, n};
    return ret->s.p != NULL;
}

void al_vm_text_free(struct al_vm_text *t)
{
    Z_quickjsZ_qjs_free_cstring(&al_vm.q, t->p);
}

void al_vm_free(al_vm_value v)
{
    if (v)
        Z_quickjsZ_qjs_free_value(&al_vm.q, v);
}

bool al_vm_is_exception(al_vm_value v)
{
    return v == 0 || Z_quickjsZ_qjs_is_exception(&al_vm.q, v);
}

al_vm_value al_vm_eval(struct al_str code, const char *file, u32 flags)
{
    u32 name = guest_dup(al_str_of(file)), text = name ? guest_dup(code) : 0;
    al_vm_value v = text ? Z_quickjsZ_qjs_eval(&al_vm.q, text, (u32)code.n, name, flags) : 0;
    al_vm_release(text);
    al_vm_release(name);
    return v;
}

al_vm_value al_vm_get(al_vm_value object, const char *name)
{
    u32 p = guest_dup(al_str_of(name));
    al_vm_value v = p ? Z_quickjsZ_qjs_get_prop_string(&al_vm.q, object, p) : 0;
    al_vm_release(p);
    return v;
}

al_vm_value al_vm_call(al_vm_value fn, unsigned n, const al_vm_value *args)
{
    al_vm_value self = Z_quickjsZ_qjs_get_undefined(&al_vm.q), v = 0;
    u32 argv = al_vm_alloc(n * 4);
    bool complete = self && argv;
    for (unsigned i = 0; i < n; i++)
        complete = complete && args[i];
    if (complete && guest_put(argv, args, n * 4))
        v = Z_quickjsZ_qjs_call(&al_vm.q, fn, self, n, argv);
    for (unsigned i = 0; i < n; i++)
        al_vm_free(args[i]);
    al_vm_release(argv);
    al_vm_free(self);
    return v;
}

void al_vm_throw(const char *message)
{
    al_vm_value v = al_vm_new_string(al_str_of(message));
    if (!v)
        return;
    al_vm_free(Z_quickjsZ_qjs_throw(&al_vm.q, v));
    al_vm_free(v);
}

void al_vm_throw_memory(void)
{
    Z_quickjsZ_JS_ThrowOutOfMemory(&al_vm.q, Z_quickjsZ_qjs_get_context_ptr(&al_vm.q));
}

static uint64_t rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

/* xoshiro256** (Blackman, Vigna 2018). */
uint64_t al_vm_random(void)
{
    uint64_t *s = al_vm.random, r = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return r;
}

bool al_vm_instantiate(void)
{
    wasm_rt_init();
    Z_quickjs_init_module();
    Z_quickjs_instantiate(&al_vm.q, &env, &wasi);
    al_vm.q.w2c_memory.max_pages = 1024;
    Z_quickjsZ__initialize(&al_vm.q);
    return Z_quickjsZ_qjs_init(&al_vm.q) == 0;
}

/* The imports. Each touches guest memory through al_vm_view alone. */

u32 Z_envZ_host_call(struct Z_env_instance_t *e, u32 name, u32 name_n, u32 self, u32 argc, u32 argv)
{
    al_vm_value args[8];
    (void)e;
    (void)self;
    const char *z = al_vm_view(name, name_n);
    if (argc > 8)
        argc = 8;
    const void *list = al_vm_view(argv, argc * 4);
    if (!z || (argc && !list))
        return 0;
    if (argc)
        memcpy(args, list, argc * 4);
    return al_vm_host_call((struct al_str){z, name_n}, argc, args);
}

/* Seconds east of UTC at that time, in the zone that the zygote read before it was sealed. */
u32 Z_envZ_host_get_timezone_offset(struct Z_env_instance_t *e, u32 high, u32 low)
{
    struct tm tm;
    time_t t = (time_t)((int64_t)((uint64_t)high << 32 | low));
    (void)e;
    return localtime_r(&t, &tm) ? (u32)(int32_t)tm.tm_gmtoff : 0;
}

u32 Z_envZ_host_interrupt(struct Z_env_instance_t *e)
{
    (void)e;
    return 0;
}

u32 Z_envZ_host_module_load(struct Z_env_instance_t *e, u32 name, u32 n_at)
{
    (void)e;
    (void)name;
    (void)n_at;
    return 0;
}

u32 Z_envZ_host_module_normalize(struct Z_env_instance_t *e, u32 base, u32 name)
{
    (void)e;
    (void)base;
    (void)name;
    return 0;
}

void Z_envZ_host_promise_rejection(struct Z_env_instance_t *e, u32 promise, u32 reason, u32 handled)
{
    (void)e;
    (void)handled;
    al_vm_free(promise);
    al_vm_free(reason);
}

u32 Z_wasi_snapshot_preview1Z_clock_time_get(struct Z_wasi_snapshot_preview1_instance_t *w, u32 id,
                                             u64 precision, u32 out)
{
    struct timespec t;
    (void)w;
    (void)precision;
    if (clock_gettime(id == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC, &t) < 0)
        return WASI_NOSYS;
    uint64_t ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return guest_put(out, &ns, sizeof ns) ? WASI_OK : WASI_FAULT;
}

u32 Z_wasi_snapshot_preview1Z_fd_close(struct Z_wasi_snapshot_preview1_instance_t *w, u32 fd)
{
    (void)w;
    (void)fd;
    return WASI_BADF;
}

u32 Z_wasi_snapshot_preview1Z_fd_fdstat_get(struct Z_wasi_snapshot_preview1_instance_t *w, u32 fd, u32 out)
{
    (void)w;
    (void)fd;
    (void)out;
    return WASI_BADF;
}

u32 Z_wasi_snapshot_preview1Z_fd_seek(struct Z_wasi_snapshot_preview1_instance_t *w, u32 fd, u64 to,
                                      u32 whence, u32 out)
{
    (void)w;
    (void)fd;
    (void)to;
    (void)whence;
    (void)out;
    return WASI_BADF;
}

/* The engine's own diagnostics have nowhere to go: taken, and dropped. */
u32 Z_wasi_snapshot_preview1Z_fd_write(struct Z_wasi_snapshot_preview1_instance_t *w, u32 fd, u32 iov, u32 n,
                                       u32 out)
{
    u32 total = 0;
    const u32 *v = al_vm_view(iov, (u64)n * 8);
    (void)w;
    (void)fd;
    if (!v)
        return WASI_FAULT;
    for (u32 i = 0; i < n; i++) {
        u32 len;
        memcpy(&len, (const char *)v + (size_t)i * 8 + 4, 4);
        total += len;
    }
    return guest_put(out, &total, sizeof total) ? WASI_OK : WASI_FAULT;
}

u32 Z_wasi_snapshot_preview1Z_random_get(struct Z_wasi_snapshot_preview1_instance_t *w, u32 p, u32 n)
{
    unsigned char *to = al_vm_view(p, n);
    (void)w;
    if (!to)
        return WASI_FAULT;
    for (u32 i = 0; i < n; i += 8) {
        uint64_t r = al_vm_random();
        memcpy(to + i, &r, n - i < 8 ? n - i : 8);
    }
    return WASI_OK;
}
