#include "base/log.h"

#include "base/ident.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096

static const char *const level_names[] = {"off", "error", "warn", "info", "debug"};

static struct {
    bool ready;
    int fd;
    enum al_log_level level;
    char trace[256]; /* a copy: the environment may change */
} state;

void al_log_init(void)
{
    if (state.ready)
        return;
    const char *level = getenv("ALISIO_LOG_LEVEL");
    const char *file = getenv("ALISIO_LOG_FILE");
    const char *trace = getenv("ALISIO_TRACE");
    state.ready = true;
    state.fd = STDERR_FILENO;
    state.level = file && file[0] ? AL_LOG_ERROR : AL_LOG_OFF;
    for (int i = AL_LOG_OFF; level && i <= AL_LOG_DEBUG; i++) {
        if (strcmp(level, level_names[i]) == 0)
            state.level = (enum al_log_level)i;
    }
    snprintf(state.trace, sizeof state.trace, "%s", trace ? trace : "");
    if (file && file[0]) {
        int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
        if (fd >= 0)
            state.fd = fd;
    }
}

bool al_log_on(enum al_log_level level, const char *component)
{
    al_log_init();
    return level != AL_LOG_OFF && (level <= state.level || (level == AL_LOG_DEBUG && al_trace_on(component)));
}

bool al_trace_on(const char *component)
{
    al_log_init();
    size_t n = strlen(component);
    for (const char *at = state.trace; *at;) {
        size_t len = strcspn(at, ",");
        if ((len == n && memcmp(at, component, n) == 0) || (len == 3 && memcmp(at, "all", 3) == 0))
            return true;
        at += len + (at[len] == ',');
    }
    return false;
}

__attribute__((format(printf, 3, 0))) static void write_line(const char *tag, const char *component,
                                                             const char *fmt, va_list ap)
{
    int eno = errno;
    char text[LINE_MAX_BYTES], when[AL_TIME_MAX];
    int n = vsnprintf(text, sizeof text, fmt, ap);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    autobuf struct al_buf line = AL_BUF_INIT(8 * LINE_MAX_BYTES);
    al_time_iso(when, al_wall_ms());
    al_buf_addf(&line, "%s %d %s %s: ", when, (int)getpid(), tag, component);
    /* Foreign text in a log is shown, never obeyed, and one event stays one line. */
    al_text_visible(&line, (struct al_str){text, len}, false);
    al_buf_addc(&line, '\n');
    size_t done = 0;
    while (done < line.n) {
        ssize_t r = write(state.fd, line.p + done, line.n - done);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            break;
        done += (size_t)r;
    }
    errno = eno;
}

void al_log(enum al_log_level level, const char *component, const char *fmt, ...)
{
    if (!al_log_on(level, component))
        return;
    va_list ap;
    va_start(ap, fmt);
    write_line(level_names[level], component, fmt, ap);
    va_end(ap);
}

void al_trace(const char *component, const char *fmt, ...)
{
    if (!al_trace_on(component))
        return;
    va_list ap;
    va_start(ap, fmt);
    write_line("trace", component, fmt, ap);
    va_end(ap);
}
