/* A page on paper, and in the browser: programs of this computer that show HTML. */
#include "cli/dashboard.h"

#include "base/mem.h"
#include "base/text.h"
#include "loop/child.h"
#include "os/fd.h"
#include "os/path.h"
#include "os/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PRINT_MS 60000
#define MAX_SAID ((size_t)64 << 10)
#define MAX_PDF ((size_t)64 << 20)

static char *find_browser(const struct al_app *app)
{
    static const char *const names[] = {
        "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
        "chrome",   "microsoft-edge",   "brave-browser"};
    const char *avoid[] = {app->workspace, NULL};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = al_path_find_program(names[i], avoid);
        if (path)
            return path;
    }
    return NULL;
}

struct printing {
    struct al_child *child;
    bool done, failed, late;
    char said[300]; /* the last line of its errors */
};

static void printed(void *ud, const struct al_child_end *end)
{
    struct printing *p = ud;
    p->done = true;
    p->failed = end->exec_errno || end->exit_status != 0;
    p->late = end->timed_out;
    struct al_str said = al_str_trim(al_buf_str(end->err));
    for (size_t i = said.n; i > 0; i--) {
        if (said.p[i - 1] == '\n') {
            said = (struct al_str){said.p + i, said.n - i};
            break;
        }
    }
    autobuf struct al_buf shown = AL_BUF_INIT(4096);
    al_text_visible(&shown, al_utf8_head(said, 200), false);
    snprintf(p->said, sizeof p->said, "%.*s", AL_FMT(al_buf_str(&shown)));
}

static void stop(void *ud)
{
    struct printing *p = ud;
    al_child_cancel(p->child);
}

/* Into `pdf` within `folder`, which is the browser's own for the time. */
static int print(struct al_app *app, const char *browser, const char *folder, const char *page,
                 struct al_err *err)
{
    struct printing p = {0};
    autofree char *profile = NULL, *pdf = NULL;
    autobuf struct al_buf url = AL_BUF_INIT(4 * PATH_MAX);
    if (asprintf(&profile, "--user-data-dir=%s/profile", folder) < 0 ||
        asprintf(&pdf, "--print-to-pdf=%s/page.pdf", folder) < 0)
        abort();
    al_text_file_uri(&url, page); /* a # or ? of the path would lead to another page */
    al_buf_addc(&url, '\0');
    if (al_buf_failed(&url))
        return al_fail(err, AL_TOOL_ERROR, "the path of the page is too long");
    const char *argv[16] = {browser,
                            "--headless=new",
                            "--disable-gpu",
                            "--disable-dev-shm-usage",
                            "--no-first-run",
                            "--disable-extensions",
                            "--disable-background-networking",
                            "--host-resolver-rules=MAP * ~NOTFOUND",
                            "--no-pdf-header-footer",
                            profile,
                            pdf};
    size_t n = 11;
    if (geteuid() == 0)
        argv[n++] = "--no-sandbox"; /* it refuses to run as root otherwise */
    argv[n++] = url.p;
    struct al_child_spec spec = {.program = browser,
                                 .argv = (char *const *)(uintptr_t)argv,
                                 .cwd_fd = -1,
                                 .max_output = MAX_SAID,
                                 .timeout_ms = PRINT_MS};
    p.child = al_child_start(al_app_loop(app), &spec, printed, &p, err);
    if (!p.child)
        return -1;
    al_app_catch_signals(app, stop, &p);
    al_loop_run_until(app->loop, &p.done, 0);
    app->on_signal = NULL;
    if (app->signal)
        return al_fail(err, AL_CANCELLED, "the printing was stopped");
    if (p.late)
        return al_fail(err, AL_TIMEOUT, "%s did not print the page within a minute", browser);
    if (p.failed) {
        al_fail(err, AL_TOOL_ERROR, "%s did not print the page%s%s", browser, p.said[0] ? ": " : "", p.said);
        return al_hint(err, "-o FILE.html writes the page; print that from a browser");
    }
    return 0;
}

static int take_pdf(const char *folder, const char *target, struct al_err *err)
{
    autobuf struct al_buf bytes = AL_BUF_INIT(MAX_PDF);
    autofree char *made = NULL;
    if (asprintf(&made, "%s/page.pdf", folder) < 0)
        abort();
    autofd int fd = open(made, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int r = fd < 0 ? -errno : al_fd_read_all(fd, &bytes);
    if (r < 0 || !al_str_starts(al_buf_str(&bytes), "%PDF-"))
        return al_fail(err, AL_TOOL_ERROR, "the browser ended well and left no PDF");
    return al_dashboard_put(target, al_buf_str(&bytes), err);
}

int al_dashboard_pdf(struct al_app *app, const char *page, const char *target, struct al_err *err)
{
    autofree char *browser = find_browser(app);
    char folder[] = "/tmp/alisio-print-XXXXXX";
    if (!browser) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "a PDF needs Chromium or Chrome, and there is none here");
        return al_hint(err, "-o FILE.html writes the page, which any browser prints");
    }
    if (!mkdtemp(folder))
        return al_fail_errno(err, AL_TOOL_ERROR, errno, "there is no room for a temporary folder");
    int r = print(app, browser, folder, page, err);
    if (r == 0)
        r = take_pdf(folder, target, err);
    autofd int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tmp >= 0)
        (void)!al_path_remove_tree(tmp, folder + strlen("/tmp/"));
    return r;
}

/* What leads to the person's screen, beside what any child of ours gets. Freed with al_env_free. */
static char **screen_env(void)
{
    static const char *const names[] = {"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
                                        "DBUS_SESSION_BUS_ADDRESS"};
    char **env = al_env_child();
    size_t n = 0;
    while (env[n])
        n++;
    env = al_xrealloc(env, (n + sizeof names / sizeof *names + 1) * sizeof *env);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && asprintf(&env[n++], "%s=%s", names[i], value) < 0)
            abort();
    }
    env[n] = NULL;
    return env;
}

bool al_dashboard_show(struct al_app *app, const char *page)
{
    const char *avoid[] = {app->workspace, NULL};
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
        return false;
    autofree char *opener = al_path_find_program("xdg-open", avoid);
    if (!opener)
        opener = find_browser(app);
    if (!opener)
        return false;
    char *argv[] = {opener, (char *)(uintptr_t)page, NULL};
    char **env = screen_env();
    autofd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    /* A browser lives longer than this command. */
    struct al_spawn how = {
        .path = opener, .exec_fd = -1, .argv = argv, .envp = env, .cwd_fd = root, .new_session = true};
    struct al_err ignored;
    pid_t pid;
    autofd int pidfd = -1;
    int r = al_spawn(&how, &pid, &pidfd, &ignored);
    al_env_free(env);
    return r == 0;
}
