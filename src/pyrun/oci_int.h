/* Shared by the files of the container and the WebAssembly back end only. */
#ifndef AL_PYRUN_OCI_INT_H
#define AL_PYRUN_OCI_INT_H

#include "pyrun/backend.h"

#define AL_OCI_ASK_MS 20000
#define AL_OCI_SAID_MAX (1u << 20)   /* bytes of an answer */
#define AL_OCI_NAME_PREFIX "alisio-" /* of containers */
#define AL_OCI_LABEL "alisio=analysis"

/* Errors of a report AL_GUEST_EXEC from al_oci_main. */
enum {
    AL_OCI_OTHER_IMAGE = 10001,
    AL_OCI_NO_IMAGE
};

/* The last line with words of what a program said, safe to show and at most 300 bytes; for messages. */
void al_oci_last_line(struct al_str text, struct al_buf *out);

struct al_oci_engine {
    bool docker;         /* else podman */
    bool rootless;       /* as far as it can be told without starting anything */
    const char *program; /* borrowed from the pyrun object */
    char *socket;        /* of docker's daemon */
    char **env;          /* of its client; nothing of it reaches a script */
};
/* Which engine, and that it is one of this computer. With `pulls` its client gets the user's proxies and
 * logins, too. Starts nothing. RUNTIME_UNAVAILABLE with what to do. Any thread. */
int al_oci_engine_find(struct al_pyrun *p, bool pulls, struct al_oci_engine *ret,
                       struct al_err *err) AL_MUST_CHECK;
void al_oci_engine_fini(struct al_oci_engine *e);
const char *al_oci_engine_name(const struct al_oci_engine *e); /* "docker", "podman" */

/* What the engine says of itself. Blocks. */
struct al_oci_facts {
    char version[64];                  /* "podman 4.3.1" */
    bool rootless, memory, cpus, pids; /* the latter three: whether it can limit them here */
};
/* Asks its client. args: without the program, NULL-terminated. Blocks. */
int al_oci_ask(const struct al_oci_engine *e, const char *const *args, uint64_t timeout_ms,
               struct al_buf *out, struct al_buf *errors, int *ret_status, struct al_err *err) AL_MUST_CHECK;
int al_oci_facts(const struct al_oci_engine *e, struct al_oci_facts *ret, struct al_err *err) AL_MUST_CHECK;
/* 0 with the id of the image in the engine's store; 1: it is not there; -1. Blocks. */
int al_oci_image_id(const char *program, char **env, const char *image, char ret[65],
                    struct al_err *err) AL_MUST_CHECK;
/* What a message of the engine means, when it is one of the known ones: RUNTIME_UNAVAILABLE with the cure. */
int al_oci_fail(struct al_str said, const char *what, struct al_err *err);

/* oci_leftover.c: <state>/runtimes/oci, made when it is not there; malloc'ed. */
char *al_oci_locks_folder(struct al_pyrun *p, struct al_err *err);
/* Makes the file and locks it: the descriptor, or -errno. */
int al_oci_lock(const char *path);
/* Has Docker's daemon, at the DOCKER_HOST of our environment, kill and remove it; nothing for Podman, whose
 * containers are our own descendants. Takes some milliseconds. */
void al_oci_kill_now(const char *container);

/* Ids of images that were looked up in this process, so that a run need not ask first. */
void al_oci_remember_id(const char *program, const char *image, const char *id);
bool al_oci_known_id(const char *program, const char *image, char ret[65]);

#endif
