/* What every tool that runs a script takes in the same way: its code, given as text or as a file of the
 * scratchpad, and its title. Not how the script runs. */
#ifndef AL_CORE_SCRIPT_H
#define AL_CORE_SCRIPT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

#include <stdbool.h>

struct al_core;

#define AL_SCRIPT_MAX_CODE_CHARS 200000u
#define AL_SCRIPT_MAX_CODE_BYTES (4u * AL_SCRIPT_MAX_CODE_CHARS)
#define AL_SCRIPT_MAX_TITLE 200u

/* INVALID_INPUT: "field: what", with the hint that names the field. */
int al_script_bad(struct al_err *err, const char *field, const char *what);
/* INVALID_INPUT for the first member of args that is none of `known` (n of them). */
int al_script_known_fields(const struct al_json *args, const char *const *known, size_t n,
                           struct al_err *err) AL_MUST_CHECK;
/* UTF-8, not blank, at most 200,000 characters. */
int al_script_check_code(struct al_str code, const char *field, struct al_err *err) AL_MUST_CHECK;
/* Of args.code and args.codePath, exactly one (`example` is a file's name for hints). *ret_code is a view into args or
 * into file, which the caller has zeroed and frees. INVALID_INPUT, whatever was wrong. Reads the scratchpad: it is small
 * and local, so this may be called in the loop's thread. */
int al_script_code(struct al_core *core, const struct al_json *args, const char *example, struct al_buf *file,
                   struct al_str *ret_code, struct al_err *err) AL_MUST_CHECK;
/* args.title, in the arena; *ret_title NULL: none. */
int al_script_title(const struct al_json *args, struct al_arena *a, const char **ret_title,
                    struct al_err *err) AL_MUST_CHECK;
#endif
