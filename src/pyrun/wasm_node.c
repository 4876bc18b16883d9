/* The Node.js that runs Pyodide, and why an older one does not. */
#include "pyrun/wasm_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ASK_MS 10000

/* A number up to a point, which is taken, too. */
static bool number(struct al_str *s, int64_t *ret)
{
    const char *at = memchr(s->p, '.', s->n);
    size_t n = at ? (size_t)(at - s->p) : 0;
    if (!at || !al_parse_int((struct al_str){s->p, n}, 0, 100000, ret))
        return false;
    *s = (struct al_str){at + 1, s->n - n - 1};
    return true;
}

const char *al_wasm_node_fault(struct al_str version)
{
    int64_t major, minor;
    struct al_str s = al_str_trim(version);
    if (!al_str_starts(s, "v"))
        return "it does not say its version";
    s = (struct al_str){s.p + 1, s.n - 1};
    if (!number(&s, &major) || !number(&s, &minor))
        return "it does not say its version";
    if (major < 22)
        return "it is too old for what a script is held by";
    if (major == 23)
        return "Node.js 23 never got the fix of CVE-2025-55130, by which a link leads out of the allowed "
               "folders";
    if ((major == 22 && minor < 22) || (major == 24 && minor < 13) || (major == 25 && minor < 3))
        return "in it a link leads out of the allowed folders (CVE-2025-55130)";
    return NULL;
}

static int hint(struct al_err *err)
{
    return al_hint(
        err,
        "install Node.js 24.13 or newer (also 22.22 and 25.3), and set analysis.wasm.node to its path when "
        "it is not the first in PATH");
}

static int check_version(struct al_pyrun *p, const char *node, char version[32], struct al_err *err)
{
    const char *argv[] = {node, "--version", NULL};
    autobuf struct al_buf said = AL_BUF_INIT(256);
    int status = 0;
    bool answered = al_py_ask(p, argv, ASK_MS, &said, NULL, &status, NULL) == 0 && status == 0;
    struct al_str text = al_str_trim(al_buf_str(&said));
    const char *fault = answered ? al_wasm_node_fault(text) : "it does not say its version";
    snprintf(version, 32, "%.*s", answered && text.n < 32 ? (int)text.n : 0, text.p);
    if (!fault)
        return 0;
    al_fail(err, AL_RUNTIME_UNAVAILABLE, "Node.js%s%s cannot be used: %s", version[0] ? " " : "", version,
            fault);
    al_detail(err, "%s", node);
    return hint(err);
}

char *al_wasm_node(struct al_pyrun *p, char version[32], struct al_err *err)
{
    const char *named = al_config_text(al_pyrun_config(p), AL_OPT_ANALYSIS_WASM_NODE);
    const char *path = named ? named : al_pyrun_program(p, "node");
    char *real = path ? realpath(path, NULL) : NULL;
    if (!real || access(real, X_OK) < 0) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE,
                named ? "analysis.wasm.node names no program that can be started"
                      : "Node.js is not installed");
        hint(err);
        free(real);
        return NULL;
    }
    if (version && check_version(p, real, version, err) < 0) {
        free(real);
        return NULL;
    }
    return real;
}
