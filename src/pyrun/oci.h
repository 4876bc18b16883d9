/*
 * The container back end as the rest of the program sees it: its link in the chain of a run, what sets an
 * image up, and what a dead host may have left. All of it drives the client of Docker or Podman; nothing
 * speaks to an engine itself.
 */
#ifndef AL_PYRUN_OCI_H
#define AL_PYRUN_OCI_H

#include "pyrun/pyrun.h"

/* argv[1] of our own binary; supervisor -> this -> the engine's client. It looks after the container, which
 * is no child of the client: checks which image it was made of, kills it on SIGTERM and removes it when the
 * client did not. Does not return. */
#define AL_OCI_VERB "__oci"
int al_oci_main(int argc, char **argv);

struct al_oci_image {
    char pinned[384]; /* NAME@sha256:…: the value of analysis.oci.image */
    char id[65];      /* of the image in the engine's store, hexadecimal */
    char python[32];  /* "3.12.7": what `python` in it says */
    char engine[64];  /* "podman 4.3.1" */
};
/*
 * Pulls `name` (NULL: what analysis.oci.image pins) unless it is there, finds its digest, and runs the Python
 * in it once, with no network. The pull may take timeout_ms. note gets a line for people now and then; it may
 * be NULL. Blocks: for the pool. CONFIG_INVALID: neither a name nor a configured image. INVALID_INPUT: no
 * name of an image. RUNTIME_UNAVAILABLE: no engine, the pull failed, the digest is another one, no Python
 * ≥ 3.10 in it.
 */
int al_oci_setup(struct al_pyrun *p, const char *name, uint64_t timeout_ms,
                 void (*note)(void *ud, struct al_str line), void *ud, struct al_oci_image *ret,
                 struct al_err *err) AL_MUST_CHECK;

/* Removes the containers of runs of this state folder whose processes were killed before they could. How
 * many. Costs nothing but a look into a folder when there are none; each run in a container begins with it.
 * Blocks: for the pool. */
int al_oci_sweep(struct al_pyrun *p);

#endif
