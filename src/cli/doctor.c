#include "cli/doctor.h"
#include "cli/agent_cmd.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/mcp_common.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/lock.h"
#include "os/path.h"
#include "sandbox/landlock.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* An engine run reserves 8 GiB of addresses; below this an address limit (ulimit -v) stops it. */
#define MIN_ADDRESS_SPACE ((rlim_t)9 << 30)

void al_doctor_say(struct al_doctor *d, enum al_mark mark, const char *check, const char *fmt, ...)
{
    static const char *const names[] = {[AL_MARK_OK] = "ok", [AL_MARK_WARN] = "warn", [AL_MARK_BAD] = "bad"};
    static const enum al_style styles[] = {
        [AL_MARK_OK] = AL_GOOD, [AL_MARK_WARN] = AL_WARN, [AL_MARK_BAD] = AL_BAD};
    char text[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    bool color = d->app->color;
    struct al_buf *out = &d->reply->text;
    al_buf_addf(out, "%s%-4s%s  %-12s ", al_style_on(color, styles[mark]), names[mark],
                al_style_off(color, styles[mark]), check);
    al_say_foreign(d->app, out, al_str_of(text), false);
    al_buf_addc(out, '\n');
    d->n[mark]++;
    al_jw_obj(&d->w);
    al_jw_kstrz(&d->w, "check", check);
    al_jw_kstrz(&d->w, "mark", names[mark]);
    al_jw_kstrz(&d->w, "text", text);
    al_jw_end(&d->w);
}

static void check_build(struct al_doctor *d)
{
    const struct al_engine_build *b = al_engine_build();
    al_doctor_say(d, AL_MARK_OK, "version", "alisio " AL_VERSION);
    al_doctor_say(d, AL_MARK_OK, "engine", "%s %s from %s, wasm SHA-256 %.16s…, %s", b->name, b->version,
                  b->package, b->wasm_sha256, b->wasm2c);
}

static bool has_syscall(long number)
{
    errno = 0;
    long r = syscall(number, -1, NULL, NULL, 0);
    if (r >= 0)
        close((int)r);
    return r >= 0 || errno != ENOSYS;
}

static void check_kernel(struct al_doctor *d)
{
    struct utsname u;
    if (uname(&u) == 0)
        al_doctor_say(d, AL_MARK_OK, "kernel", "%s %s %s", u.sysname, u.release, u.machine);
    int abi = al_landlock_abi();
    if (abi > 0)
        al_doctor_say(d, AL_MARK_OK, "landlock", "ABI %d", abi);
    else
        al_doctor_say(d, AL_MARK_WARN, "landlock",
                      "not there: git runs only in repositories whose config names no program");
    /* A NULL program: EFAULT where filters exist, EINVAL where they do not. */
    bool filters = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) < 0 && errno == EFAULT;
    al_doctor_say(d, filters ? AL_MARK_OK : AL_MARK_BAD, "seccomp",
                  filters ? "filters work" : "no filters: scripts cannot be sealed, so they do not run");
    bool beneath = has_syscall(SYS_openat2), pidfd = has_syscall(SYS_pidfd_open);
    al_doctor_say(d, beneath && pidfd ? AL_MARK_OK : AL_MARK_BAD, "calls", "openat2 %s, pidfd %s",
                  beneath ? "there" : "missing (Linux 5.13 or newer is needed)",
                  pidfd ? "there" : "missing (Linux 5.13 or newer is needed)");
    struct rlimit as;
    if (getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur != RLIM_INFINITY && as.rlim_cur < MIN_ADDRESS_SPACE)
        al_doctor_say(d, AL_MARK_BAD, "addresses",
                      "ulimit -v is %llu KiB; scripts need 9 GiB of address space: ulimit -v unlimited",
                      (unsigned long long)as.rlim_cur >> 10);
}

static void check_user(struct al_doctor *d)
{
    if (geteuid() == 0)
        al_doctor_say(d, AL_MARK_WARN, "user",
                      "root: programs that tools start may do anything; a normal user is safer");
    else
        al_doctor_say(d, AL_MARK_OK, "user", "uid %u", (unsigned)geteuid());
}

static void check_config(struct al_doctor *d)
{
    struct al_app *app = d->app;
    struct al_err err = {0};
    if (al_app_config_lenient(app, &err) < 0) {
        al_doctor_say(d, AL_MARK_BAD, "config", "%s", err.msg);
        return;
    }
    if (app->config_err.code != AL_OK)
        al_doctor_say(d, AL_MARK_BAD, "config", "%s (%s)", app->config_err.msg, app->user_file);
    else
        al_doctor_say(d, AL_MARK_OK, "config", "%s%s", app->user_file,
                      access(app->user_file, F_OK) == 0 ? "" : " (not there: defaults)");
    if (app->project_file)
        al_doctor_say(d, AL_MARK_OK, "project", "%s is %s", app->project_file,
                      app->project_trusted ? "trusted" : "not trusted, so it is not read");
    const char *const *notices;
    size_t n = al_config_notices(app->config, &notices);
    for (size_t i = 0; i < n; i++)
        al_doctor_say(d, AL_MARK_WARN, "project", "%s", notices[i]);
}

static void check_state(struct al_doctor *d)
{
    struct al_err err = {0};
    struct stat st;
    autofree char *dir = al_app_state_dir(d->app);
    if (al_app_store(d->app, &err) < 0) {
        al_doctor_say(d, AL_MARK_BAD, "state", "%s: %s", dir, err.msg);
        return;
    }
    bool private = stat(dir, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 077);
    al_doctor_say(d, private ? AL_MARK_OK : AL_MARK_BAD, "state", "%s, mode %04o%s", dir,
                  (unsigned)(st.st_mode & 07777), private ? "" : "; it should be yours alone: chmod 700");
    if (al_fs_is_network(dir))
        al_doctor_say(d, AL_MARK_WARN, "state",
                      "on a network file system: slower, and without WAL; ALISIO_STATE_HOME moves it");
}

static void check_servers(struct al_doctor *d)
{
    struct al_err err = {0};
    autobuf struct al_buf text = AL_BUF_INIT(256);
    if (!d->app->config || !d->app->store)
        return;
    if (al_say_servers(d->app, &text, NULL, &err) < 0)
        al_doctor_say(d, AL_MARK_BAD, "mcp", "%s", err.msg);
    else
        al_doctor_say(d, AL_MARK_OK, "mcp", "%.*s%s", AL_FMT(al_buf_str(&text)),
                      d->app->servers.n ? " (`alisio mcp doctor` starts them)" : "");
}

static void check_provider(struct al_doctor *d)
{
    struct al_err err = {0};
    autobuf struct al_buf text = AL_BUF_INIT(8192);
    if (!d->app->config)
        return;
    int r = al_endpoint_say(d->app, &text, NULL, &err);
    bool chosen = al_config_text(d->app->config, AL_OPT_PROVIDER) != NULL;
    if (r < 0)
        al_doctor_say(d, AL_MARK_BAD, "provider", "%s", err.msg);
    else
        al_doctor_say(d, r == 0 && chosen ? AL_MARK_WARN : AL_MARK_OK, "provider", "%.*s", AL_FMT(al_buf_str(&text)));
}

static void check_workspace(struct al_doctor *d)
{
    struct al_app *app = d->app;
    struct al_err err = {0};
    if (al_app_workspace(app, &err) < 0) {
        al_doctor_say(d, AL_MARK_BAD, "workspace", "%s", err.msg);
        return;
    }
    if (!app->config || !app->store || al_app_core(app, "mcp", &err) < 0) {
        al_doctor_say(d, err.code ? AL_MARK_BAD : AL_MARK_WARN, "workspace", "%s%s%s", app->workspace,
                      err.code ? ": " : "", err.msg);
        return;
    }
    if (al_workspace_refused(al_core_workspace(app->core), &err))
        al_doctor_say(d, AL_MARK_WARN, "workspace", "%s: %s", app->workspace, err.msg);
    else
        al_doctor_say(d, AL_MARK_OK, "workspace", "%s", app->workspace);
    struct al_scratch *s = al_core_scratch(app->core);
    if (s && al_scratch_fd(s, &err) < 0)
        al_doctor_say(d, AL_MARK_BAD, "scratchpad", "%s", err.msg);
    else if (s)
        al_doctor_say(d, al_scratch_note(s) ? AL_MARK_WARN : AL_MARK_OK, "scratchpad", "%s%s%s",
                      al_scratch_path(s), al_scratch_note(s) ? ": " : "",
                      al_scratch_note(s) ? al_scratch_note(s) : "");
}

static void check_engine(struct al_doctor *d, bool required)
{
    struct al_err err = {0};
    struct al_app *app = d->app;
    if (!app->core) {
        al_doctor_say(d, AL_MARK_BAD, "scripts", "not tried: workspace, config or state is not in order");
        if (required)
            al_fail(&d->reply->err, AL_ENGINE_UNAVAILABLE, "the engine could not be tried");
    } else if (al_engine_self_test(al_core_engine(app->core), app->loop, &err) < 0) {
        al_doctor_say(d, AL_MARK_BAD, "scripts", "self-test failed: %s", err.msg);
        if (required)
            d->reply->err = err;
    } else {
        al_doctor_say(d, AL_MARK_OK, "scripts", "self-test passed");
    }
    if (required && d->reply->err.code != AL_OK)
        d->reply->err.code = AL_ENGINE_UNAVAILABLE;
}

static void check_data(struct al_doctor *d, bool required)
{
    struct al_err err = {0};
    struct al_app *app = d->app;
    int64_t n = 0, bytes = 0;
    if (!app->core) {
        al_doctor_say(d, AL_MARK_BAD, "data", "not tried: workspace, config or state is not in order");
        if (required)
            al_fail(&d->reply->err, AL_ENGINE_UNAVAILABLE, "the data engine could not be tried");
    } else if (!required && !al_config_bool(app->config, AL_OPT_ANALYSIS_ENABLED)) {
        al_doctor_say(d, AL_MARK_OK, "data", "off (analysis.enabled)");
    } else if (al_data_self_test(al_core_data(app->core), app->loop, &err) < 0 ||
               al_store_dataset_usage(app->store, NULL, &n, &bytes, &err) < 0) {
        al_doctor_say(d, AL_MARK_BAD, "data", "self-test failed: %s", err.msg);
        if (required)
            d->reply->err = err;
    } else {
        autobuf struct al_buf size = AL_BUF_INIT(64);
        al_text_bytes(&size, (uint64_t)bytes);
        al_doctor_say(d, AL_MARK_OK, "data", "self-test passed; %lld datasets, %.*s", (long long)n,
                      AL_FMT(al_buf_str(&size)));
    }
    if (required && d->reply->err.code != AL_OK)
        d->reply->err.code = AL_ENGINE_UNAVAILABLE;
}

static const char *const requirable[] = {"js", "data", "python", "python=isolated"};
enum {
    NEED_JS,
    NEED_DATA,
    NEED_PYTHON,
    NEED_ISOLATED,
    NEED_COUNT
};

static int read_require(struct al_app *app, bool need[NEED_COUNT], struct al_err *err)
{
    const char *p = app->args.value[AL_FLAG_REQUIRE];
    while (p && *p) {
        struct al_str word = {p, strcspn(p, ",")};
        size_t i = 0;
        while (i < NEED_COUNT && !al_str_is(word, requirable[i]))
            i++;
        if (i == NEED_COUNT) {
            al_fail(err, AL_INVALID_INPUT, "--require does not know \"%.*s\"",
                    (int)(word.n > 40 ? 40 : word.n), word.p);
            return al_hint(err, "js, data, python and python=isolated are known, with commas between them");
        }
        need[i] = true;
        p += word.n + (p[word.n] == ',');
    }
    return 0;
}

int al_cmd_doctor(struct al_app *app, struct al_reply *reply)
{
    struct al_doctor d = {.app = app, .reply = reply};
    bool need[NEED_COUNT] = {false};
    if (read_require(app, need, &reply->err) < 0)
        return -1;
    al_jw_init(&d.w, &reply->structured);
    al_jw_obj(&d.w);
    al_jw_key(&d.w, "checks");
    al_jw_arr(&d.w);
    check_build(&d);
    check_kernel(&d);
    check_user(&d);
    check_config(&d);
    check_state(&d);
    check_servers(&d);
    check_provider(&d);
    check_workspace(&d);
    al_doctor_programs(&d);
    check_engine(&d, need[NEED_JS]);
    check_data(&d, need[NEED_DATA]);
    al_doctor_python(&d, need[NEED_PYTHON], need[NEED_ISOLATED]);
    al_jw_end(&d.w);
    al_jw_kint(&d.w, "ok", d.n[AL_MARK_OK]);
    al_jw_kint(&d.w, "warn", d.n[AL_MARK_WARN]);
    al_jw_kint(&d.w, "bad", d.n[AL_MARK_BAD]);
    al_jw_end(&d.w);
    return reply->err.code == AL_OK ? 0 : -1;
}
