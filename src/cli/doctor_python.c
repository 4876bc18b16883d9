#include "cli/analysis.h"
#include "cli/doctor.h"

/* What stronger wall is missing, and how it would be had: worth a line only where nothing isolates scripts.
 */
static void say_missing(struct al_doctor *d, const struct al_py_probe *probes)
{
    for (int b = 0; b < AL_PY_MANAGED; b++) {
        if (probes[b].state != AL_PY_READY && b != AL_PY_OCI && b != AL_PY_WASM)
            al_doctor_say(d, AL_MARK_WARN, "python", "%s is not ready: %s. %s",
                          al_py_backend_name((enum al_py_backend)b), probes[b].why.msg, probes[b].why.hint);
    }
}

void al_doctor_python(struct al_doctor *d, bool required, bool isolated)
{
    struct al_app *app = d->app;
    struct al_py_probe probes[AL_PY_N];
    enum al_py_backend chosen = AL_PY_MANAGED;
    autobuf struct al_buf reason = AL_BUF_INIT(4096);
    struct al_err err = {0};
    required |= isolated;
    if (!app->core) {
        al_doctor_say(d, AL_MARK_BAD, "python", "not tried: workspace, config or state is not in order");
        if (required)
            al_fail(&d->reply->err, AL_RUNTIME_UNAVAILABLE, "Python could not be tried");
        return;
    }
    if (!required && !al_config_bool(app->config, AL_OPT_ANALYSIS_ENABLED)) {
        al_doctor_say(d, AL_MARK_OK, "python", "off (analysis.enabled)");
        return;
    }
    al_probe_python(app, true, probes);
    if (al_choose_python(app, probes, &chosen, &reason, &err) < 0) {
        al_doctor_say(d, required ? AL_MARK_BAD : AL_MARK_WARN, "python", "no script can run: %s %s", err.msg,
                      err.hint);
        if (required)
            d->reply->err = err;
        return;
    }
    bool open = probes[chosen].isolation >= AL_PY_RESTRICTED_PROCESS;
    al_doctor_say(d, open ? AL_MARK_WARN : AL_MARK_OK, "python", "scripts run in %s (%s), Python %s%s",
                  al_py_backend_name(chosen), al_py_isolation_name(probes[chosen].isolation),
                  probes[chosen].python, open ? ": not sandboxed" : "");
    if (open)
        say_missing(d, probes);
    if (open && isolated) {
        al_fail(&d->reply->err, AL_RUNTIME_UNAVAILABLE, "nothing isolates Python scripts here");
        al_hint(&d->reply->err, "`alisio analysis status` says what is missing");
    }
}
