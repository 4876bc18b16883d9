#include "sandbox/filter.h"
#include "base/mem.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <string.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "what are this architecture's calls called?"
#endif
#define X32_BIT 0x40000000u
#define NR_OFFSET offsetof(struct seccomp_data, nr)
#define ARCH_OFFSET offsetof(struct seccomp_data, arch)

struct building {
    struct sock_filter code[BPF_MAXINSNS];
    size_t n;
    const struct al_filter_rule *rules;
    /* Neighbours that come to the same: from this number on, that rule (-1: none). */
    struct range {
        uint32_t from;
        int16_t rule;
    } ranges[AL_FILTER_CALLS + 1];
    size_t n_ranges;
};

static size_t put(struct building *b, struct sock_filter i)
{
    if (b->n < BPF_MAXINSNS)
        b->code[b->n] = i;
    return b->n++; /* too many: seen at the end */
}

static void put_return(struct building *b, uint32_t what)
{
    put(b, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what));
}

static void put_jump(struct building *b, uint16_t how, uint32_t k, uint8_t yes, uint8_t no)
{
    put(b, (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | how | BPF_K), k, yes, no));
}

static void put_load(struct building *b, size_t offset)
{
    put(b, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* Little endian, both of them. */
static size_t offset_of(const struct al_filter_test *t)
{
    return offsetof(struct seccomp_data, args) + 8u * t->arg + (t->upper ? 4u : 0u);
}

static void put_rule(struct building *b, const struct al_filter_rule *r)
{
    const struct al_filter_test *last = NULL;
    for (size_t i = 0; i < r->n_tests; i++) {
        const struct al_filter_test *t = &r->tests[i];
        if (!last || last->mask != t->mask || offset_of(last) != offset_of(t)) {
            put_load(b, offset_of(t));
            if (t->mask != UINT32_MAX)
                put(b, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, t->mask));
        }
        last = t;
        put_jump(b, BPF_JEQ, t->value, t->other, !t->other);
        put_return(b, t->then);
    }
    put_return(b, r->otherwise);
}

/* Finds the range of the number in the accumulator by halves: the left half follows, the right one is jumped
 * to. */
static void put_ranges(struct building *b, size_t from, size_t to)
{
    if (to - from == 1) {
        int rule = b->ranges[from].rule;
        if (rule < 0)
            put_return(b, AL_FILTER_ERROR(ENOSYS));
        else
            put_rule(b, &b->rules[rule]);
        return;
    }
    size_t middle = from + (to - from) / 2;
    put_jump(b, BPF_JGE, b->ranges[middle].from, 0, 1);
    size_t jump = put(b, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 0));
    put_ranges(b, from, middle);
    if (jump < BPF_MAXINSNS)
        b->code[jump].k = (uint32_t)(b->n - jump - 1);
    put_ranges(b, middle, to);
}

static void find_ranges(struct building *b, size_t n_rules)
{
    int16_t of[AL_FILTER_CALLS + 1];
    memset(of, 0xff, sizeof(of));
    for (size_t i = 0; i < n_rules; i++) {
        for (size_t k = 0; k < b->rules[i].n_calls; k++) {
            int nr = b->rules[i].calls[k];
            if (nr >= 0 && nr < AL_FILTER_CALLS)
                of[nr] = (int16_t)i;
        }
    }
    for (uint32_t nr = 0; nr <= AL_FILTER_CALLS; nr++) {
        if (nr == 0 || of[nr] != of[nr - 1])
            b->ranges[b->n_ranges++] = (struct range){nr, of[nr]};
    }
}

struct sock_fprog *al_filter_build(const struct al_filter_rule *rules, size_t n)
{
    if (n > AL_FILTER_RULES)
        return NULL;
    autofree struct building *b = al_xcalloc(1, sizeof(*b));
    b->rules = rules;
    find_ranges(b, n);
    put_load(b, ARCH_OFFSET);
    put_jump(b, BPF_JEQ, ARCH, 1, 0);
    put_return(b, SECCOMP_RET_KILL_PROCESS);
    put_load(b, NR_OFFSET);
#ifdef __x86_64__
    /* Numbers of x32 mean other calls; -1 is what a tracer leaves of a call that is not to be. */
    put_jump(b, BPF_JGE, X32_BIT, 0, 2);
    put_jump(b, BPF_JEQ, UINT32_MAX, 1, 0);
    put_return(b, SECCOMP_RET_KILL_PROCESS);
#endif
    put_ranges(b, 0, b->n_ranges);
    if (b->n > BPF_MAXINSNS)
        return NULL;
    struct sock_fprog *prog = al_xmalloc(sizeof(*prog) + b->n * sizeof(*b->code));
    prog->len = (unsigned short)b->n;
    prog->filter = (struct sock_filter *)(prog + 1);
    memcpy(prog->filter, b->code, b->n * sizeof(*b->code));
    return prog;
}
