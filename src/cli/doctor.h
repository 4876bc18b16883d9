/* The checks of `alisio doctor`; shared by its two files. */
#ifndef AL_CLI_DOCTOR_H
#define AL_CLI_DOCTOR_H

#include "cli/app.h"

enum al_mark {
    AL_MARK_OK,
    AL_MARK_WARN,
    AL_MARK_BAD,
};

struct al_doctor {
    struct al_app *app;
    struct al_reply *reply;
    struct al_jw w;
    int n[3];
};

/* One line, one check. */
void al_doctor_say(struct al_doctor *d, enum al_mark mark, const char *check, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Helper programs: where they were found, and which were passed over, and why. */
void al_doctor_programs(struct al_doctor *d);

/* Where Python scripts would run; required: fails unless they can, isolated: unless something isolates them. */
void al_doctor_python(struct al_doctor *d, bool required, bool isolated);

#endif
