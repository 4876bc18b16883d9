/* The commonest mistake of a script: its files are in the current folder, and the output folder is empty. */
#include "tools/python_int.h"

#include "base/text.h"
#include "os/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOKED_AT 1000u /* entries; the folder may hold a hundred times as many */
#define NAMED 3u

/* Hidden ones, and what tempfile leaves, were never meant to be published. */
static bool meant(const struct dirent *e)
{
    return e->d_name[0] != '.' && strncmp(e->d_name, "tmp", 3) != 0 &&
           strcmp(e->d_name, "__pycache__") != 0 && (e->d_type == DT_REG || e->d_type == DT_DIR);
}

static unsigned name_them(DIR *dir, struct al_buf *out)
{
    const struct dirent *e;
    unsigned n = 0;
    for (unsigned i = 0; i < LOOKED_AT && (e = readdir(dir)); i++) {
        if (!meant(e))
            continue;
        if (n++ >= NAMED)
            continue;
        al_buf_adds(out, n > 1 ? ", " : "");
        al_text_visible(out, al_utf8_head(al_str_of(e->d_name), 60), false);
        al_buf_adds(out, e->d_type == DT_DIR ? "/" : "");
    }
    return n;
}

void python_note_left(struct python_run *r)
{
    autobuf struct al_buf names = AL_BUF_INIT(4096);
    int fd = openat(r->job.fd, "work", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        al_close(&fd);
        return;
    }
    unsigned n = name_them(dir, &names);
    closedir(dir);
    if (n == 0)
        return;
    al_buf_addf(&r->warnings,
                "%.*s%s: left in the current folder, which is not published; files for people go into "
                "alisio_runtime.output_dir()\n",
                AL_FMT(al_buf_str(&names)), n > NAMED ? " and more" : "");
}
