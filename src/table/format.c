#include "table/table.h"

const char *al_table_format_name(enum al_table_format f)
{
    static const char *const names[] = {"csv", "tsv", "json", "jsonl", "xlsx"};
    return names[f];
}

const char *al_note_id(enum al_note n)
{
    static const char *const ids[] = {
#define AL_NOTE_ID(name, id) id,
        AL_NOTES(AL_NOTE_ID)
#undef AL_NOTE_ID
    };
    return ids[n];
}

int al_table_detect(struct al_str name, struct al_str head, struct al_table_found *ret, struct al_err *err)
{
    (void)name, (void)head, (void)ret;
    return al_fail(err, AL_INTERNAL, "not built yet");
}
