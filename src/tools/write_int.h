/* The file that write_file or edit_file is about to change. */
#ifndef AL_TOOLS_WRITE_INT_H
#define AL_TOOLS_WRITE_INT_H

#include "tools/tools_int.h"

/* The al_tool.registered of both. */
bool al_tool_write_registered(const struct al_core *core);

struct al_target {
    struct al_place place; /* links at the end of the path followed */
    struct stat st;        /* of what is there */
    bool exists;
    int fd; /* open for reading when it exists; owned */
};
#define AL_TARGET_INIT \
    {                  \
        .fd = -1       \
    }
/* Closed at the end of the scope, whatever came before it was opened. */
#define autotarget __attribute__((cleanup(al_target_fini)))

/* Finds it, follows a link at its end, checks the real name. Nothing is made. */
int al_target_open(struct al_call *call, struct al_target *ret, struct al_err *err) AL_MUST_CHECK;
void al_target_fini(struct al_target *t);
/* The argument expectedHash against what is there: absent, null (must be new) or a hash. */
int al_target_check_hash(struct al_call *call, const struct al_target *t, const char *actual,
                         struct al_err *err) AL_MUST_CHECK;
/* Writes, unless the file changed since it was opened or the call was cancelled; fills the structured value.
 */
int al_target_write(struct al_call *call, const struct al_target *t, struct al_str content, char ret_sha[65],
                    struct al_err *err) AL_MUST_CHECK;
/* Around the check and the write of a path that has a name of a repository's parts: two runs must not each add one part
 * while the other looks. */
void al_target_repository_lock(const char *rel);
void al_target_repository_unlock(const char *rel);

#endif
