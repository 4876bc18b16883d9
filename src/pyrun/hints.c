/* What a person types to get what is missing. */
#include "pyrun/backend.h"

#include "os/fd.h"

#include <fcntl.h>
#include <string.h>

static const struct {
    const char *id; /* of os-release, in ID or ID_LIKE */
    const char *command;
    const char *python, *node;
} managers[] = {
    {"debian", "sudo apt install ", "python3", "nodejs"},
    {"ubuntu", "sudo apt install ", "python3", "nodejs"},
    {"fedora", "sudo dnf install ", "python3", "nodejs"},
    {"rhel", "sudo dnf install ", "python3.12", "nodejs"},
    {"centos", "sudo dnf install ", "python3.12", "nodejs"},
    {"amzn", "sudo dnf install ", "python3.12", "nodejs"},
    {"arch", "sudo pacman -S ", "python", "nodejs"},
    {"suse", "sudo zypper install ", "python312", "nodejs"},
    {"opensuse", "sudo zypper install ", "python312", "nodejs"},
    {"sles", "sudo zypper install ", "python312", "nodejs"},
    {"alpine", "sudo apk add ", "python3", "nodejs"},
};

/* The value of KEY=value or KEY="value" at the start of a line; empty when it is not there. */
static struct al_str value_of(struct al_str text, const char *key)
{
    size_t n = strlen(key);
    while (text.n > 0) {
        const char *end = memchr(text.p, '\n', text.n);
        struct al_str line = {text.p, end ? (size_t)(end - text.p) : text.n};
        if (line.n > n && memcmp(line.p, key, n) == 0 && line.p[n] == '=') {
            struct al_str v = al_str_trim((struct al_str){line.p + n + 1, line.n - n - 1});
            if (v.n >= 2 && (v.p[0] == '"' || v.p[0] == '\'') && v.p[v.n - 1] == v.p[0])
                v = (struct al_str){v.p + 1, v.n - 2};
            return v;
        }
        size_t skip = end ? line.n + 1 : text.n;
        text = (struct al_str){text.p + skip, text.n - skip};
    }
    return (struct al_str){"", 0};
}

/* The first of the words (split at spaces) for which there is an entry, by its exact name or what it begins
 * with
 * ("opensuse-leap"); -1. */
static int manager_of(struct al_str words)
{
    while (words.n > 0) {
        const char *space = memchr(words.p, ' ', words.n);
        struct al_str word = {words.p, space ? (size_t)(space - words.p) : words.n};
        for (size_t i = 0; i < sizeof(managers) / sizeof(managers[0]); i++) {
            size_t n = strlen(managers[i].id);
            if (al_str_starts(word, managers[i].id) && (word.n == n || word.p[n] == '-'))
                return (int)i;
        }
        size_t skip = space ? word.n + 1 : words.n;
        words = (struct al_str){words.p + skip, words.n - skip};
    }
    return -1;
}

void al_py_install_for(struct al_str os_release, const char *package, struct al_buf *out)
{
    int i = manager_of(value_of(os_release, "ID"));
    if (i < 0)
        i = manager_of(value_of(os_release, "ID_LIKE"));
    if (i < 0) {
        al_buf_addf(out, "your package manager: %s", package);
        return;
    }
    al_buf_adds(out, managers[i].command);
    if (strcmp(package, "python3") == 0)
        package = managers[i].python;
    else if (strcmp(package, "nodejs") == 0)
        package = managers[i].node;
    al_buf_adds(out, package);
}

void al_py_install(const char *package, struct al_buf *out)
{
    autobuf struct al_buf text = AL_BUF_INIT(16384);
    al_py_small_file("/etc/os-release", &text);
    al_py_install_for(al_buf_str(&text), package, out);
}

void al_py_small_file(const char *path, struct al_buf *out)
{
    autofd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    al_buf_clear(out);
    if (fd < 0 || al_fd_read_all(fd, out) < 0) {
        al_buf_clear(out);
        return;
    }
    struct al_str s = al_str_trim(al_buf_str(out));
    if (s.p > out->p)
        al_buf_drop(out, (size_t)(s.p - out->p));
    out->n = s.n;
}
