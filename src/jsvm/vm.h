/*
 * The VM process, seen from its own parts: one translated QuickJS instance per process. Nothing here runs in
 * the host. The parts below the seal allocate no native memory: all data lies in the guest's.
 */
#ifndef AL_JSVM_VM_H
#define AL_JSVM_VM_H

#include "base/err.h"
#include "base/str.h"
#include "jsvm/proto.h"
#include "wire/frame.h"

#include <stdbool.h>
#include <stdint.h>

#include "quickjs.h"

/* A JavaScript value: the address of a box in the guest's memory. 0 is none. */
typedef u32 al_vm_value;

struct al_vm_state {
    Z_quickjs_instance_t q;
    struct al_vm_page *page; /* shared with the host; NULL in the zygote */
    bool entered;            /* the guest runs, or may be run: traps are its own */
    bool sealed;             /* a run: its end goes out as a frame */
    bool rehearses;          /* nobody hears it: what it says goes nowhere */
    bool grow_refused;       /* linear memory reached its limit */
    bool out_of_memory;      /* the engine has thrown its out-of-memory error at least once */
    uint32_t first_pages;    /* linear memory when the run began */
    uint64_t memory_limit;   /* the run's, for messages */
    uint32_t stack_low;      /* shadow stack pointer below which the engine calls it an overflow */
    uint64_t random[4];      /* xoshiro256**, seeded with each run */
};
extern struct al_vm_state al_vm;

/* vm_wasm.c */
bool al_vm_instantiate(void); /* instance, runtime, context. False: the engine reports a failure */
/* The only way to guest memory: NULL when [p, p + n) does not lie inside it. */
void *al_vm_view(u32 p, u64 n);
u32 al_vm_alloc(u32 n); /* guest memory from its malloc; 0 when there is none */
void al_vm_release(u32 p);
al_vm_value al_vm_new_string(struct al_str s); /* 0: out of memory */
/* The value's text in guest memory. false: no string, or out of memory. Release with al_vm_text_free. */
struct al_vm_text {
    u32 p;
    struct al_str s;
};
bool al_vm_text_get(al_vm_value v, struct al_vm_text *ret);
void al_vm_text_free(struct al_vm_text *t);
void al_vm_free(al_vm_value v);
al_vm_value al_vm_eval(struct al_str code, const char *file, u32 flags); /* may be an exception box */
bool al_vm_is_exception(al_vm_value v);
al_vm_value al_vm_get(al_vm_value object, const char *name);
al_vm_value al_vm_call(al_vm_value fn, unsigned n, const al_vm_value *args); /* frees the arguments */
void al_vm_throw(const char *message);
void al_vm_throw_memory(void); /* the engine's own error, which a script cannot catch */
uint64_t al_vm_random(void);

enum {
    AL_VM_EVAL_STRICT = 1 << 3,
    AL_VM_EVAL_COMPILE_ONLY = 1 << 5
};

/* vm_host.c: the functions that the prelude is given, by name. */
al_vm_value al_vm_host_call(struct al_str name, unsigned n, const al_vm_value *args);
extern const char *const al_vm_host_names[];

/* vm_trap.c */
bool al_vm_trap_init(void);                 /* handlers on a stack of their own */
_Noreturn void al_vm_die(const char *json); /* END with that JSON, then _exit; async-signal-safe */
_Noreturn void al_vm_die_memory(void);      /* the same with MEMORY_LIMIT */
WASM_RT_NO_RETURN void al_vm_trap(wasm_rt_trap_t code);
uint32_t al_vm_grow_memory(wasm_rt_memory_t *memory, uint32_t pages);
void al_vm_saw_out_of_memory(void);

/* vm_frame.c: blocking, on AL_VM_FD. A broken channel ends the process: nobody is left to tell. */
void al_vm_send(uint8_t type, struct al_str a, struct al_str b, struct al_str c);
void al_vm_hold(uint8_t type, struct al_str a, struct al_str b,
                struct al_str c); /* goes out with the next send */
/* The next frame, its payload in fresh guest memory (0 when empty). */
struct al_vm_in {
    uint8_t type;
    u32 p, n;
};
void al_vm_receive(struct al_vm_in *ret);
void al_vm_rehearse(const char *p, size_t n); /* these frames are received, and none is sent */

/* vm_ahead.c: a run spends most of a short script's time on its first write to each of the zygote's pages.
 * Which ones that are is found by a rehearsal, in the zygote; a spare copies them while it waits. */
void al_vm_ahead_learn(void);
void al_vm_ahead_touch(void);

/* vm_prelude.c: builds the prelude in the zygote. false with the reason. */
bool al_vm_prelude_build(char *why, size_t n);
struct al_vm_prelude {
    al_vm_value start, deliver, finish, deadlock, fatal;
};
extern struct al_vm_prelude al_vm_prelude;

/* vm_run.c. The sealed part of a run: reads INIT, runs the script, sends END. Tests put an attacker in its
 * place. */
_Noreturn void al_vm_run(void);
struct al_vm_run_state {
    struct al_vm_init init;
    bool settled; /* the main promise */
    bool ended;   /* END is out */
    uint32_t open;
    uint64_t text;  /* bytes printed, line ends included */
    bool text_over; /* the host has been sent what it ends the run for */
};
extern struct al_vm_run_state al_vm_run_state;
al_vm_value al_vm_query(struct al_str what,
                        struct al_str arg); /* waits for ANSWER; results meanwhile are queued */

#endif
