/*
 * What the host, the zygote and a run say to each other. Both ends are the same binary, so structs travel as
 * they are; what comes from a run is a claim all the same, and the host counts and checks it.
 */
#ifndef AL_JSVM_PROTO_H
#define AL_JSVM_PROTO_H

#include <stdint.h>

/* The descriptor of the zygote's control socket, and of a run's channel. No other is open there. */
#define AL_VM_FD 3

/* Limits that hold for every run, whatever its spec says. */
#define AL_VM_SCRIPT_MAX ((size_t)1 << 20)   /* bytes of code */
#define AL_VM_DATA_MAX ((size_t)64 << 20)    /* bytes of input, state, tool names and ALISIO together */
#define AL_VM_ARGS_MAX ((size_t)16 << 20)    /* bytes of the arguments of one nested call */
#define AL_VM_REPLY_MAX ((size_t)32 << 20)   /* bytes of one nested result or answer */
#define AL_VM_STATE_MAX ((size_t)16 << 20)   /* bytes of the state that comes back */
#define AL_VM_END_MAX ((size_t)256 << 10)    /* bytes of the END frame */
#define AL_VM_PROGRESS_MAX ((size_t)8 << 10) /* bytes of one PROGRESS frame */
#define AL_VM_NAME_MAX ((size_t)512)         /* bytes of a tool's name */
#define AL_VM_MEMORY_MIN ((uint64_t)1 << 20)
#define AL_VM_MEMORY_MAX ((uint64_t)1 << 30)
#define AL_VM_GUEST_SLACK \
    ((uint64_t)4 << 20) /* linear memory beyond the heap limit: rounding, texts on their way */
#define AL_VM_STACK_MIN ((uint32_t)64 << 10)
#define AL_VM_STACK_MAX \
    ((uint32_t)512 << 10) /* of the 1 MiB shadow stack; above 768 KiB traps come before errors */

/* Types of frames (wire/frame.h) on the channel of a run. */
enum al_vm_frame {
    /* host to run */
    AL_VM_INIT = 1, /* struct al_vm_init, then its texts one after the other */
    AL_VM_RESULT,   /* u32 id, u32 ok, then JSON: the value, or {"code","message","hint"} */
    AL_VM_ANSWER,   /* JSON */
    /* run to host */
    AL_VM_PRINT = 32, /* text */
    AL_VM_PROGRESS,   /* JSON */
    AL_VM_CALL,       /* u32 id, u32 length of the name, name, arguments as JSON */
    AL_VM_QUERY,      /* u32 0, u32 length of the name, name, argument as JSON; the run waits for ANSWER */
    AL_VM_VALUE,      /* JSON, before END */
    AL_VM_STATE,      /* JSON array of [key, value], before END */
    AL_VM_END, /* JSON {"code"?,"message"?,"hint"?,"stack"?,"line"?,"column"?,"notes"?}; nothing follows */
};

/* What stands before the JSON of RESULT, and before name and JSON of CALL and QUERY. */
struct al_vm_call_head {
    uint32_t id;
    uint32_t n; /* RESULT: 1 for a value, 0 for an error */
};

struct al_vm_init {
    uint64_t memory_bytes;
    uint64_t max_text_bytes;
    uint64_t max_value_bytes;
    uint64_t max_state_bytes;
    uint32_t stack_bytes;
    uint32_t max_concurrency;
    uint32_t seed[8];
    uint32_t code_n, input_n, alisio_n, tools_n, state_n;
    uint8_t has_state;
    uint8_t legacy_execute;
    uint8_t probe; /* the self-test: make a system call that the filter must refuse */
    uint8_t zero;
};

/* On the control socket (SOCK_SEQPACKET): one request a run, with two descriptors: its channel and its page.
 */
struct al_vm_request {
    uint64_t seq;        /* from 1 */
    uint64_t data_bytes; /* what the guest may hold: its memory limit, and the texts of INIT */
    uint64_t ahead;      /* no script waits for it yet: there is time to prepare */
};

enum al_vm_reply_kind {
    AL_VM_READY = 1, /* the zygote is built and sealed */
    AL_VM_FAILED,    /* it is not; text says why */
    AL_VM_FORKED,    /* seq and pid of a run, or pid < 0: -errno */
};

struct al_vm_reply_msg {
    uint32_t kind;
    uint32_t zero;
    uint64_t seq;
    int64_t pid;
    char text[200];
};

/* A page that a run shares with the host: it is read when the run has ended, however it ended. */
struct al_vm_page {
    uint64_t heap_peak; /* bytes of linear memory */
    int32_t pid;        /* of the run, written by the kernel when there is one */
    int32_t zero;
};

#endif
