/* What a script says of its progress: one small file in work/, written by alisio_runtime, and by anybody else
 * there. */
#include "base/json.h"
#include "base/text.h"
#include "os/fd.h"
#include "pyrun/run_int.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX 4096
#define ARENA_MAX (64 * 1024)
#define NOTE_CHARS 200

/* The script may be writing it: what is half there is no JSON, and the next look sees it whole. */
static bool read_file(int work_fd, char text[FILE_MAX], size_t *ret_n)
{
    struct stat st;
    autofd int fd =
        openat(work_fd, AL_PY_PROGRESS_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
        return false;
    ssize_t n = pread(fd, text, FILE_MAX, 0);
    *ret_n = n > 0 ? (size_t)n : 0;
    return n > 0;
}

static bool add_number(struct al_jw *w, const struct al_json *v, const char *key)
{
    double d;
    const struct al_json *m = al_json_get(v, key);
    if (!m || !al_json_double(m, &d) || !isfinite(d))
        return false;
    al_jw_key(w, key);
    al_jw_double(w, d);
    return true;
}

static bool add_note(struct al_jw *w, const struct al_json *v)
{
    struct al_str note = al_utf8_head(al_str_trim(al_json_get_text(v, "note")), NOTE_CHARS);
    if (note.n == 0)
        return false;
    autobuf struct al_buf seen = AL_BUF_INIT(FILE_MAX * 8);
    al_text_visible(&seen, note, false);
    al_jw_kstr(w, "note", al_buf_str(&seen));
    return true;
}

bool al_py_progress_read(int work_fd, struct al_buf *out)
{
    char text[FILE_MAX];
    size_t n;
    const struct al_json *v;
    autoarena struct al_arena a = AL_ARENA_INIT(ARENA_MAX);
    if (!read_file(work_fd, text, &n) || al_json_parse(&a, (struct al_str){text, n}, &v, NULL) < 0 ||
        v->type != AL_JSON_OBJECT)
        return false;
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    bool any = add_number(&w, v, "completed");
    any = add_number(&w, v, "total") || any;
    any = add_note(&w, v) || any;
    al_jw_end(&w);
    return any && !al_buf_failed(out);
}
