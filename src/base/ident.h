/* Ids, clocks, randomness and hashes. */
#ifndef AL_BASE_IDENT_H
#define AL_BASE_IDENT_H

#include "base/str.h"

#include <stdint.h>

/* "exec_" + ULID (Crockford base 32 of 48 bits ms and 80 bits from getrandom), monotonic within the process. */
/* A prefix without its "_" gets one; "" gives the bare ULID. At most 13 bytes. */
#define AL_ID_MAX 40
void al_id_new(char out[AL_ID_MAX], const char *prefix);
bool al_id_valid(struct al_str id, const char *prefix);
int64_t al_id_time_ms(struct al_str id); /* when it was made, since 1970 UTC; -1: it is no id */

void al_random(void *p, size_t n); /* getrandom(2); aborts when the kernel refuses */

int64_t al_wall_ms(void);      /* since 1970 UTC */
uint64_t al_mono_ns(void);     /* CLOCK_MONOTONIC */
uint64_t al_mono_ms(void);
#define AL_TIME_MAX 32
void al_time_iso(char out[AL_TIME_MAX], int64_t wall_ms);   /* 2026-01-31T12:00:00.000Z */
void al_time_local(char out[AL_TIME_MAX], int64_t wall_ms); /* 2026-01-31 13:00:00, the user's zone */

#define AL_SHA256_HEX 65
struct al_sha256;
struct al_sha256 *al_sha256_new(void);
void al_sha256_add(struct al_sha256 *h, const void *p, size_t n);
void al_sha256_end(struct al_sha256 *h, char out[AL_SHA256_HEX]); /* frees h */
void al_sha256(struct al_str s, char out[AL_SHA256_HEX]);

/* slug(≤ 32) + "-" + 12 hex of SHA-256(real path): the folder name of a workspace. */
#define AL_WORKSPACE_KEY_MAX 48
void al_workspace_key(char out[AL_WORKSPACE_KEY_MAX], const char *real_path);

#endif
