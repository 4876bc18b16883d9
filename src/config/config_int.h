/* The parts of the option table that the files of this folder share. */
#ifndef AL_CONFIG_CONFIG_INT_H
#define AL_CONFIG_CONFIG_INT_H

#include "base/json.h"
#include "config/config.h"

#define AL_CONFIG_MAX_FILE (1u << 20)
#define AL_CONFIG_MAX_ARENA (16u << 20)

enum al_opt_type {
    AL_OPT_BOOL,
    AL_OPT_INT,
    AL_OPT_HUNDREDTHS, /* a number with at most two decimals; num, min and max count hundredths */
    AL_OPT_CHOICE,
    AL_OPT_PATH,
    AL_OPT_TEXT,  /* 1 to 200 characters on one line */
    AL_OPT_IMAGE, /* a container image by its digest: NAME@sha256:… */
    AL_OPT_LIST,
};

/* What the file of a repository may do with an option; whatever it is, the repository is not the user. */
enum al_opt_project {
    AL_PROJECT_NEVER,
    AL_PROJECT_LOWER, /* a smaller number */
    AL_PROJECT_OFF,   /* false */
};

struct al_opt_def {
    const char *name, *help;
    enum al_opt_type type;
    enum al_opt_project project;
    int64_t min, max;           /* AL_OPT_INT, AL_OPT_HUNDREDTHS */
    int64_t num;                /* default of AL_OPT_INT, AL_OPT_HUNDREDTHS and AL_OPT_BOOL */
    const char *const *choices; /* AL_OPT_CHOICE: NULL-terminated, the first is the default */
    const char *env;            /* variable that wins over the files */
};

extern const struct al_opt_def al_opt_table[AL_OPT_COUNT];

struct al_opt_value {
    enum al_layer layer;
    char *origin;
    int64_t num;
    char *text;
    char **list;
    size_t n_list;
};

void al_opt_value_fini(struct al_opt_value *v);
/*
 * Reads and checks one JSON value. Fails with INVALID_INPUT, "KEY must be …". A relative path starts at dir,
 * which may be NULL: then it is refused.
 */
int al_opt_read(enum al_opt o, const struct al_json *json, const char *dir, struct al_opt_value *ret,
                struct al_err *err) AL_MUST_CHECK;
/* NULL, or why that is no image by digest, as it follows "must be". */
const char *al_opt_image_fault(struct al_str s);
/* The option of that exact name, or AL_OPT_COUNT. */
enum al_opt al_opt_lookup(struct al_str name);
/* Is there an option below this name ("forge.javascript")? */
bool al_opt_is_section(struct al_str name);
/* The name that was probably meant, or NULL. */
const char *al_opt_nearest(struct al_str name);

/* The text behind a byte order mark. */
struct al_str al_config_without_bom(struct al_str s);
/* Bytes of a small regular file; a byte order mark is dropped. 1 read, 0 there is none, -1. `shown` names it
 * in errors. With check_owner, a file that others may change is refused. */
int al_config_read_file(const char *path, bool follow, bool check_owner, const char *shown,
                        struct al_buf *out, struct al_err *err) AL_MUST_CHECK;

#endif
