#include "test.h"

#include "config/config.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct dir {
    char path[64];
    char user[96], project[96];
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static int setup(void **state)
{
    struct dir *d = al_xcalloc(1, sizeof *d);
    snprintf(d->path, sizeof d->path, "/tmp/alisio-test-config-XXXXXX");
    assert_non_null(mkdtemp(d->path));
    snprintf(d->user, sizeof d->user, "%s/config.json", d->path);
    snprintf(d->project, sizeof d->project, "%s/project.json", d->path);
    unsetenv("ALISIO_TMPDIR");
    *state = d;
    return 0;
}

static int teardown(void **state)
{
    struct dir *d = *state;
    nftw(d->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(d);
    return 0;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(path, 0600), 0);
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = al_xcalloc(1, 65536);
    size_t n = fread(text, 1, 65535, f);
    text[n] = 0;
    fclose(f);
    return text;
}

static struct al_config *load_bytes(const char *user, const char *project)
{
    struct al_config *c;
    struct al_err err = {0};
    if (al_config_load_bytes(al_str_of(user), al_str_of(project), &c, &err) < 0)
        fail_msg("%s", err.msg);
    return c;
}

static void assert_json(const struct al_config *c, enum al_opt o, const char *want)
{
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    al_config_value_json(c, o, &b);
    al_buf_addc(&b, '\0');
    assert_string_equal(b.p, want);
}

/* Every option: its default, its ends, what lies past them, and what a project may do with it. */
struct truth {
    const char *key, *section_open, *section_close, *leaf;
    const char *def;
    const char *good[4];
    const char *bad[5];
    const char *project, *project_want; /* a value that a project gives, and what then holds */
};

#define JS "{\"forge\":{\"javascript\":{\"", "}}}"
#define DATA "{\"analysis\":{\"data\":{\"", "}}}"
#define ANALYSIS(section) "{\"analysis\":{\"" section "\":{\"", "}}}"
#define IMAGE_DIGEST "sha256:f77ac9e44ae96ef2c90b8053ea08c31f8be030f824196b0ae4db6d462c84e51f"
#define TOP "{\"", "}"
#define IN(section) "{\"forge\":{\"" section "\":{\"", "}}}"
static const struct truth truths[] = {
    {"forge.javascript.enabled",
     JS,
     "enabled",
     "true",
     {"false", "true"},
     {"0", "\"true\"", "[]", "{}"},
     "false",
     "false"},
    {"forge.javascript.host",
     JS,
     "host",
     "\"auto\"",
     {"\"auto\"", "\"process\"", "\"worker\""},
     {"\"thread\"", "1", "true", "\"\""},
     "\"worker\"",
     "\"auto\""},
    {"forge.javascript.timeoutMs",
     JS,
     "timeoutMs",
     "30000",
     {"1", "300000", "1e3"},
     {"0", "300001", "1.5", "\"5\"", "-1"},
     "10",
     "10"},
    {"forge.javascript.timeoutMs", JS, "timeoutMs", "30000", {"30000"}, {"null5"}, "30001", "30000"},
    {"forge.javascript.maxTimeoutMs",
     JS,
     "maxTimeoutMs",
     "300000",
     {"30000", "300000"},
     {"0", "300001"},
     "250000",
     "250000"},
    {"forge.javascript.memoryBytes",
     JS,
     "memoryBytes",
     "33554432",
     {"2097152", "134217728"},
     {"2097151", "134217729"},
     "4194304",
     "33554432"},
    {"forge.javascript.stackBytes",
     JS,
     "stackBytes",
     "262144",
     {"65536", "524288"},
     {"65535", "524289"},
     "65536",
     "262144"},
    {"forge.javascript.maxToolCalls", JS, "maxToolCalls", "50", {"0", "500"}, {"-1", "501"}, "49", "49"},
    {"forge.javascript.maxConcurrency", JS, "maxConcurrency", "4", {"1", "16"}, {"0", "17"}, "5", "4"},
    {"forge.javascript.maxOutputChars",
     JS,
     "maxOutputChars",
     "16000",
     {"256", "48000"},
     {"255", "48001"},
     "300",
     "300"},
    {"forge.state.enabled", IN("state"), "enabled", "true", {"false"}, {"1"}, "false", "false"},
    {"forge.state.maxTotalBytes",
     IN("state"),
     "maxTotalBytes",
     "524288",
     {"1024", "8388608"},
     {"1023", "8388609"},
     "1024",
     "524288"},
    {"forge.scratch.enabled", IN("scratch"), "enabled", "true", {"false"}, {"\"no\""}, "false", "true"},
    {"forge.scratch.root",
     IN("scratch"),
     "root",
     "null",
     {"\"/var/tmp/x\""},
     {"\"\"", "\"rel\"", "5", "\"a\\u0000b\""},
     "\"/evil\"",
     "null"},
    {"forge.scratch.retentionDays",
     IN("scratch"),
     "retentionDays",
     "7",
     {"0", "3650"},
     {"-1", "3651"},
     "1",
     "7"},
    {"forge.scratch.maxBytes",
     IN("scratch"),
     "maxBytes",
     "268435456",
     {"1048576", "1099511627776"},
     {"1048575", "1099511627777"},
     "1048576",
     "268435456"},
    {"forge.guides.enabled", IN("guides"), "enabled", "true", {"false"}, {"null5"}, "false", "false"},
    {"forge.runs.retentionDays", IN("runs"), "retentionDays", "90", {"0", "3650"}, {"-1", "3651"}, "1", "90"},
    {"storage.maxBytes",
     "{\"storage\":{\"",
     "}}",
     "maxBytes",
     "21474836480",
     {"1048576", "1125899906842624"},
     {"1048575", "1125899906842625"},
     "1048576",
     "21474836480"},
    {"analysis.enabled",
     "{\"analysis\":{\"",
     "}}",
     "enabled",
     "true",
     {"false", "true"},
     {"1"},
     "false",
     "false"},
    {"analysis.smartDashboard",
     "{\"analysis\":{\"",
     "}}",
     "smartDashboard",
     "true",
     {"false", "true"},
     {"1"},
     "false",
     "false"},
    {"analysis.data.maxUploadBytes",
     DATA,
     "maxUploadBytes",
     "209715200",
     {"1", "68719476736"},
     {"0", "68719476737"},
     "1000",
     "1000"},
    {"analysis.data.maxRows", DATA, "maxRows", "5000000", {"1", "2147483648"}, {"0", "2147483649"}, "7", "7"},
    {"analysis.data.queryTimeoutMs",
     DATA,
     "queryTimeoutMs",
     "5000",
     {"100", "60000"},
     {"99", "60001"},
     "6000",
     "5000"},
    {"analysis.data.maxInteractiveRows",
     DATA,
     "maxInteractiveRows",
     "1000000",
     {"1", "2147483648"},
     {"0", "2147483649"},
     "5",
     "5"},
    {"analysis.data.statsMemoryBytes",
     DATA,
     "statsMemoryBytes",
     "33554432",
     {"1048576", "1073741824"},
     {"1048575", "1073741825"},
     "2000000",
     "2000000"},
    {"analysis.retention.jobsDays",
     "{\"analysis\":{\"retention\":{\"",
     "}}}",
     "jobsDays",
     "30",
     {"0", "3650"},
     {"-1", "3651"},
     "1",
     "30"},
    {"analysis.runtime",
     "{\"analysis\":{\"",
     "}}",
     "runtime",
     "\"auto\"",
     {"\"auto\"", "\"bwrap\"", "\"landlock\"", "\"oci\""},
     {"\"docker\"", "1", "\"\""},
     "\"managed\"",
     "\"auto\""},
    {"analysis.runtime",
     "{\"analysis\":{\"",
     "}}",
     "runtime",
     "\"auto\"",
     {"\"wasm\"", "\"managed\""},
     {"null5"},
     "\"wasm\"",
     "\"auto\""},
    {"analysis.isolation",
     "{\"analysis\":{\"",
     "}}",
     "isolation",
     "\"preferred\"",
     {"\"preferred\"", "\"required\"", "\"strict\""},
     {"\"none\"", "true"},
     "\"strict\"",
     "\"preferred\""},
    {"analysis.oci.engine",
     ANALYSIS("oci"),
     "engine",
     "\"docker\"",
     {"\"docker\"", "\"podman\""},
     {"\"nerdctl\"", "\"/usr/bin/podman\""},
     "\"podman\"",
     "\"docker\""},
    {"analysis.oci.image",
     ANALYSIS("oci"),
     "image",
     "null",
     {"\"python@" IMAGE_DIGEST "\"", "\"localhost:5000/a/b_c@" IMAGE_DIGEST "\"",
      "\"docker.io/library/python@" IMAGE_DIGEST "\""},
     {"\"python:3.12\"", "\"python@sha256:f77ac9\"", "5", "\"python:3.12@" IMAGE_DIGEST "\"",
      "\"--privileged@" IMAGE_DIGEST "\""},
     "\"python@" IMAGE_DIGEST "\"",
     "null"},
    {"analysis.oci.image",
     ANALYSIS("oci"),
     "image",
     "null",
     {"\"localhost/py@" IMAGE_DIGEST "\""},
     {"\"@" IMAGE_DIGEST "\"", "\"a b@" IMAGE_DIGEST "\"", "\"a/@" IMAGE_DIGEST "\"",
      "\"python@" IMAGE_DIGEST "0\""},
     "\"python:3.12\"",
     "null"},
    {"analysis.oci.memoryMb",
     ANALYSIS("oci"),
     "memoryMb",
     "2048",
     {"256", "65536"},
     {"255", "65537"},
     "512",
     "2048"},
    {"analysis.oci.cpus",
     ANALYSIS("oci"),
     "cpus",
     "2",
     {"0.5", "64", "1.25", "3"},
     {"0.49", "64.01", "1.255", "\"2\""},
     "1",
     "2"},
    {"analysis.wasm.node",
     ANALYSIS("wasm"),
     "node",
     "null",
     {"\"/opt/node/bin/node\""},
     {"\"\"", "\"node\"", "5"},
     "\"/evil\"",
     "null"},
    {"analysis.wasm.memoryMb",
     ANALYSIS("wasm"),
     "memoryMb",
     "1024",
     {"256", "65536"},
     {"255", "65537"},
     "512",
     "1024"},
    {"analysis.wasm.startupMs",
     ANALYSIS("wasm"),
     "startupMs",
     "20000",
     {"1000", "120000"},
     {"999", "120001"},
     "1000",
     "20000"},
    {"analysis.wasm.maxInputBytes",
     ANALYSIS("wasm"),
     "maxInputBytes",
     "209715200",
     {"1048576", "4294967296"},
     {"1048575", "4294967297"},
     "1048576",
     "209715200"},
    {"analysis.limits.timeoutMs",
     ANALYSIS("limits"),
     "timeoutMs",
     "120000",
     {"1000", "900000"},
     {"999", "900001"},
     "5000",
     "5000"},
    {"analysis.limits.maxFiles",
     ANALYSIS("limits"),
     "maxFiles",
     "200",
     {"1", "10000"},
     {"0", "10001"},
     "7",
     "7"},
    {"analysis.limits.maxFileBytes",
     ANALYSIS("limits"),
     "maxFileBytes",
     "104857600",
     {"1", "68719476736"},
     {"0", "68719476737"},
     "9",
     "9"},
    {"analysis.limits.maxOutputBytes",
     ANALYSIS("limits"),
     "maxOutputBytes",
     "524288000",
     {"1", "68719476736"},
     {"0", "68719476737"},
     "999999999999",
     "524288000"},
    {"analysis.limits.maxLogBytes",
     ANALYSIS("limits"),
     "maxLogBytes",
     "10485760",
     {"1024", "1073741824"},
     {"1023", "1073741825"},
     "2048",
     "2048"},
    {"analysis.limits.memoryMb",
     ANALYSIS("limits"),
     "memoryMb",
     "2048",
     {"64", "1048576"},
     {"63", "1048577"},
     "64",
     "64"},
    {"analysis.limits.processes",
     ANALYSIS("limits"),
     "processes",
     "256",
     {"8", "32768"},
     {"7", "32769"},
     "300",
     "256"},
    {"analysis.limits.maxWorkBytes",
     ANALYSIS("limits"),
     "maxWorkBytes",
     "2147483648",
     {"1048576", "1099511627776"},
     {"1048575", "1099511627777"},
     "1048576",
     "1048576"},
    {"analysis.limits.maxWorkFiles",
     ANALYSIS("limits"),
     "maxWorkFiles",
     "100000",
     {"16", "10000000"},
     {"15", "10000001"},
     "16",
     "16"},
    {"analysis.retention.intermediateDays",
     ANALYSIS("retention"),
     "intermediateDays",
     "7",
     {"0", "3650"},
     {"-1", "3651"},
     "1",
     "7"},
    {"analysis.retention.artifactsDays",
     ANALYSIS("retention"),
     "artifactsDays",
     "0",
     {"1", "3650"},
     {"-1", "3651"},
     "1",
     "0"},
    {"provider", TOP, "provider", "null", {"\"ollama\""}, {"\"\"", "5", "[]"}, "\"evil\"", "null"},
    {"model", TOP, "model", "null", {"\"qwen3:8b\"", "\"a/b\""}, {"\"\"", "true"}, "\"evil\"", "null"},
    {"maxTurns", TOP, "maxTurns", "100", {"1", "10000"}, {"0", "10001", "\"5\""}, "7", "7"},
    {"maxOutputTokens", TOP, "maxOutputTokens", "16384", {"256", "1000000"}, {"255", "1000001"}, "512", "512"},
    {"maxTokens", TOP, "maxTokens", "0", {"0", "1000000000"}, {"-1", "1000000001"}, "5000", "5000"},
    {"compaction.threshold",
     "{\"compaction\":{\"",
     "}}",
     "threshold",
     "0.85",
     {"0.3", "0.95", "0.5"},
     {"0.29", "0.96", "0.855", "\"a\""},
     "0.4",
     "0.85"},
    {"compaction.keepTurns", "{\"compaction\":{\"", "}}", "keepTurns", "2", {"0", "100"}, {"-1", "101"}, "1", "2"},
    {"context.maxBytes",
     "{\"context\":{\"",
     "}}",
     "maxBytes",
     "32768",
     {"0", "1048576"},
     {"-1", "1048577"},
     "100",
     "100"},
    {"context.claudeMd", "{\"context\":{\"", "}}", "claudeMd", "false", {"true", "false"}, {"1", "\"true\""}, "true", "false"},
    {"files.protect",
     "{\"files\":{\"",
     "}}",
     "protect",
     "[]",
     {"[]", "[\"a\",\"!b\"]"},
     {"\"a\"", "[1]", "[\"\"]", "[\"!\"]"},
     "[\"a\"]",
     "[]"},
    {"files.secret", "{\"files\":{\"", "}}", "secret", "[]", {"[\"*.x\"]"}, {"{}"}, "[\"!.env\"]", "[]"},
};

static void make(char *out, size_t cap, const struct truth *t, const char *value)
{
    snprintf(out, cap, "%s%s\":%s%s", t->section_open, t->leaf, value, t->section_close);
}

static void each_option_has_its_default_range_and_owner(void **state)
{
    (void)state;
    char text[512];
    for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++) {
        const struct truth *t = &truths[i];
        enum al_opt o;
        struct al_err err = {0};
        assert_int_equal(al_opt_find(al_str_of(t->key), &o, &err), 0);
        assert_string_equal(al_opt_name(o), t->key);
        assert_true(strlen(al_opt_help(o)) > 10);
        struct al_config *c = load_bytes("", "");
        assert_json(c, o, t->def);
        assert_int_equal(al_config_layer(c, o), AL_LAYER_DEFAULT);
        assert_null(al_config_origin(c, o));
        al_config_free(c);
        for (size_t k = 0; k < 4 && t->good[k]; k++) {
            make(text, sizeof text, t, t->good[k]);
            c = load_bytes(text, "");
            if (strcmp(t->good[k], "1e3") != 0)
                assert_json(c, o, t->good[k]);
            assert_int_equal(al_config_layer(c, o), AL_LAYER_USER);
            assert_non_null(al_config_origin(c, o));
            al_config_free(c);
        }
        for (size_t k = 0; k < 5 && t->bad[k]; k++) {
            make(text, sizeof text, t, t->bad[k]);
            if (al_config_load_bytes(al_str_of(text), AL_STR(""), &c, &err) == 0)
                fail_msg("%s is accepted", text);
            assert_int_equal(err.code, AL_CONFIG_INVALID);
            assert_non_null(strstr(err.msg, "line 1"));
            assert_json(c, o, t->def);
            al_config_free(c);
        }
        make(text, sizeof text, t, t->project);
        c = load_bytes("", text);
        assert_json(c, o, t->project_want);
        const char *const *notices;
        bool kept = strcmp(t->project_want, t->def) == 0;
        assert_int_equal(al_config_notices(c, &notices), kept ? 1 : 0);
        if (kept)
            assert_non_null(strstr(notices[0], t->key));
        assert_int_equal(al_config_layer(c, o), kept ? AL_LAYER_DEFAULT : AL_LAYER_PROJECT);
        al_config_free(c);
    }
}

static void an_image_by_its_tag_is_told_how_to_get_the_digest(void **state)
{
    (void)state;
    struct al_config *c;
    struct al_err err = {0};
    assert_int_equal(al_config_load_bytes(AL_STR("{\"analysis\":{\"oci\":{\"image\":\"python:3.12\"}}}"),
                                          AL_STR(""), &c, &err),
                     -1);
    al_config_free(c);
    assert_int_equal(err.code, AL_CONFIG_INVALID);
    assert_non_null(strstr(err.msg, "python:3.12"));
    assert_non_null(strstr(err.msg, "alisio analysis setup --oci --image"));
}

static void every_option_is_in_the_truth_table(void **state)
{
    (void)state;
    for (int o = 0; o < AL_OPT_COUNT; o++) {
        bool there = false;
        for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++)
            there |= strcmp(truths[i].key, al_opt_name((enum al_opt)o)) == 0;
        assert_true(there);
    }
}

static void a_fault_names_line_key_and_nearest(void **state)
{
    (void)state;
    static const struct {
        const char *text, *line, *words;
    } cases[] = {
        {"{\n  \"forge\": {\n    \"javascript\": {\n      \"timeoutMS\": 5\n}}}", "line 4",
         "forge.javascript.timeoutMS; the nearest is forge.javascript.timeoutMs"},
        {"{\n\"timeoutMs\": 5}", "line 2", "timeoutMs; the nearest is forge.javascript.timeoutMs"},
        {"{\"frge\":{}}", "line 1", "there is no key frge"},
        {"{\"zzzzzzzzzzzzzzzz\":{}}", "line 1", "there is no key zzzzzzzzzzzzzzzz"},
        {"{\n\n\"forge\":\n\n3}", "line 3", "forge must be an object"},
        {"{\"forge\":{\"javascript\":{\n\"maxToolCalls\"\n:\n\"many\"}}}", "line 2",
         "forge.javascript.maxToolCalls must be a whole number from 0 to 500, not \"many\""},
        {"{\"forge.javascript.timeoutMs\":5}", "line 1", "there is no key forge.javascript.timeoutMs"},
        {"{\"storage\":{\n\"maxBytes\":2000000,\n\"maxBytes\":2000000}}", "line 3", "twice"},
        {"{\"schemaVersion\":2}", "line 1", "schemaVersion must be 1"},
        {"[]", "line 1", "must be a JSON object"},
        {"{\n\"forge\":,}", "line 2", ""},
        {"{\"a\\u001b[31m\":1}", "line 1", "there is no key a\\"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct al_config *c;
        struct al_err err = {0};
        assert_int_equal(al_config_load_bytes(al_str_of(cases[i].text), AL_STR(""), &c, &err), -1);
        assert_int_equal(err.code, AL_CONFIG_INVALID);
        assert_non_null(strstr(err.msg, "the user config file"));
        if (!strstr(err.msg, cases[i].line) || !strstr(err.msg, cases[i].words))
            fail_msg("%s: %s", cases[i].text, err.msg);
        assert_null(strchr(err.msg, 0x1b));
        assert_non_null(strstr(err.hint, "alisio config path"));
        al_config_free(c);
    }
}

static void a_project_loses_the_faulty_key_and_keeps_the_others(void **state)
{
    (void)state;
    struct al_config *c =
        load_bytes("", "{\"mcp\":{\"servers\":{}},\"forge\":{\"javascript\":{\"maxToolCalls\":true,"
                       "\"maxConcurrency\":2}}}");
    assert_int_equal(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_MAX_CONCURRENCY), 2);
    assert_int_equal(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_MAX_TOOL_CALLS), 50);
    const char *const *notices;
    assert_int_equal(al_config_notices(c, &notices), 2);
    assert_non_null(strstr(notices[0], "only the user's own configuration may name servers"));
    al_config_free(c);
    c = load_bytes("", "{\"forge\":");
    assert_int_equal(al_config_notices(c, &notices), 1);
    al_config_free(c);
    c = load_bytes("", "{\"schemaVersion\":9,\"forge\":{\"javascript\":{\"maxConcurrency\":2}}}");
    assert_int_equal(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_MAX_CONCURRENCY), 4);
    assert_int_equal(al_config_notices(c, &notices), 1);
    al_config_free(c);
}

static void a_project_lowers_from_the_users_value_only(void **state)
{
    (void)state;
    struct al_config *c = load_bytes("{\"forge\":{\"javascript\":{\"maxToolCalls\":10,\"enabled\":false}}}",
                                     "{\"forge\":{\"javascript\":{\"maxToolCalls\":20,\"enabled\":true}}}");
    assert_int_equal(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_MAX_TOOL_CALLS), 10);
    assert_false(al_config_bool(c, AL_OPT_FORGE_JAVASCRIPT_ENABLED));
    const char *const *notices;
    assert_int_equal(al_config_notices(c, &notices), 2);
    al_config_free(c);
}

static void notices_are_bounded(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(1 << 20);
    al_buf_adds(&b, "{\"forge\":{}");
    for (int i = 0; i < 20000; i++)
        al_buf_addf(&b, ",\"k%d\":1", i);
    al_buf_adds(&b, "}");
    struct al_config *c;
    struct al_err err;
    assert_int_equal(al_config_load_bytes(AL_STR(""), al_buf_str(&b), &c, &err), 0);
    const char *const *notices;
    size_t n = al_config_notices(c, &notices);
    assert_int_equal(n, 33);
    assert_non_null(strstr(notices[n - 1], "more"));
    al_config_free(c);
}

static void the_default_time_never_exceeds_the_longest(void **state)
{
    (void)state;
    struct al_config *c = load_bytes("", "{\"forge\":{\"javascript\":{\"maxTimeoutMs\":2000}}}");
    assert_int_equal(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS), 2000);
    assert_int_equal(al_config_layer(c, AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS), AL_LAYER_PROJECT);
    al_config_free(c);
}

static struct al_config *load(struct dir *d, bool project, bool named, bool trusted, int want,
                              struct al_err *err)
{
    struct al_config_sources src = {d->user, project ? d->project : NULL, named, trusted, NULL};
    struct al_config *c = NULL;
    *err = (struct al_err){0};
    int r = al_config_load(&src, &c, err);
    if (r != want)
        fail_msg("load: %d %s", r, err->msg);
    assert_non_null(c);
    return c;
}

static void missing_files_are_fine(void **state)
{
    struct al_err err;
    struct al_config *c = load(*state, true, false, true, 0, &err);
    const char *const *notices;
    assert_int_equal(al_config_notices(c, &notices), 0);
    al_config_free(c);
}

static void a_named_file_must_be_there_and_be_right(void **state)
{
    struct dir *d = *state;
    struct al_err err;
    al_config_free(load(d, true, true, false, -1, &err));
    assert_int_equal(err.code, AL_CONFIG_INVALID);
    assert_null(strstr(err.msg, d->path));
    write_file(d->project, "{\"forge\":{\"javascript\":{\"timeoutMs\":\"x\"}}}");
    al_config_free(load(d, true, true, false, -1, &err));
    assert_non_null(strstr(err.hint, "--config"));
    write_file(d->project, "{\"forge\":{\"javascript\":{\"timeoutMs\":7,\"memoryBytes\":4194304}}}");
    struct al_config *c = load(d, true, true, false, 0, &err);
    assert_int_equal(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS), 7);
    assert_string_equal(al_config_origin(c, AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS), d->project);
    assert_int_equal(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_MEMORY_BYTES), 32 << 20);
    al_config_free(c);
}

static void an_untrusted_project_is_not_read(void **state)
{
    struct dir *d = *state;
    struct al_err err;
    write_file(d->project, "{\"forge\":{\"javascript\":{\"timeoutMs\":7}}}");
    struct al_config *c = load(d, true, false, false, 0, &err);
    assert_int_equal(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS), 30000);
    const char *const *notices;
    assert_int_equal(al_config_notices(c, &notices), 1);
    assert_non_null(strstr(notices[0], "not trusted"));
    al_config_free(c);
    c = load(d, true, false, true, 0, &err);
    assert_int_equal(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS), 7);
    al_config_free(c);
}

static void the_bytes_that_were_hashed_are_used_and_not_read_again(void **state)
{
    struct dir *d = *state;
    struct al_str bytes = AL_STR("\xef\xbb\xbf{\"forge\":{\"javascript\":{\"timeoutMs\":7}}}");
    struct al_err err;
    write_file(d->project, "{\"forge\":{\"javascript\":{\"timeoutMs\":8}}}");
    for (int trusted = 0; trusted < 2; trusted++) {
        struct al_config_sources src = {
            .project_file = d->project, .project_trusted = trusted, .project_bytes = &bytes};
        struct al_config *c = NULL;
        assert_int_equal(al_config_load(&src, &c, &err), 0);
        assert_int_equal(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS), trusted ? 7 : 30000);
        al_config_free(c);
    }
}

static void a_project_file_that_is_a_link_or_a_pipe_is_ignored(void **state)
{
    struct dir *d = *state;
    struct al_err err;
    const char *const *notices;
    write_file(d->user, "{}");
    assert_int_equal(symlink(d->user, d->project), 0);
    struct al_config *c = load(d, true, false, true, 0, &err);
    assert_int_equal(al_config_notices(c, &notices), 1);
    al_config_free(c);
    assert_int_equal(unlink(d->project), 0);
    assert_int_equal(mkfifo(d->project, 0600), 0);
    c = load(d, true, false, true, 0, &err);
    assert_int_equal(al_config_notices(c, &notices), 1);
    al_config_free(c);
}

static void a_broken_user_file_fails_and_still_gives_a_config(void **state)
{
    struct dir *d = *state;
    struct al_err err;
    write_file(d->user, "{\"forge\":{\"javascript\":{\"timeoutMs\":9000,\n\"nope\":1}}}");
    write_file(d->project, "{\"forge\":{\"javascript\":{\"maxToolCalls\":3}}}");
    struct al_config *c = load(d, true, false, true, -1, &err);
    assert_non_null(strstr(err.msg, "line 2"));
    assert_null(strstr(err.msg, d->path));
    assert_string_equal(err.detail, d->user);
    assert_int_equal(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS), 30000);
    assert_int_equal(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_MAX_TOOL_CALLS), 3);
    al_config_free(c);
}

static void a_user_file_over_one_mebibyte_or_open_to_others_is_refused(void **state)
{
    struct dir *d = *state;
    struct al_err err;
    write_file(d->user, "");
    assert_int_equal(truncate(d->user, (1 << 20) + 1), 0);
    al_config_free(load(d, false, false, false, -1, &err));
    assert_non_null(strstr(err.msg, "1 MiB"));
    write_file(d->user, "{}");
    assert_int_equal(chmod(d->user, 0666), 0);
    al_config_free(load(d, false, false, false, 0, &err)); /* its folder is private */
    assert_int_equal(chmod(d->path, 0755), 0);
    al_config_free(load(d, false, false, false, -1, &err));
    assert_non_null(strstr(err.hint, "chmod"));
}

static void the_environment_wins_over_files(void **state)
{
    struct dir *d = *state;
    struct al_err err;
    write_file(d->user, "{\"forge\":{\"scratch\":{\"root\":\"below\"}}}");
    struct al_config *c = load(d, false, false, false, 0, &err);
    char want[128];
    snprintf(want, sizeof want, "%s/below", d->path);
    assert_string_equal(al_config_text(c, AL_OPT_FORGE_SCRATCH_ROOT), want);
    al_config_free(c);
    setenv("ALISIO_TMPDIR", "/var/tmp/there", 1);
    c = load(d, false, false, false, 0, &err);
    assert_string_equal(al_config_text(c, AL_OPT_FORGE_SCRATCH_ROOT), "/var/tmp/there");
    assert_int_equal(al_config_layer(c, AL_OPT_FORGE_SCRATCH_ROOT), AL_LAYER_ENV);
    assert_string_equal(al_config_origin(c, AL_OPT_FORGE_SCRATCH_ROOT), "ALISIO_TMPDIR");
    al_config_free(c);
    setenv("ALISIO_TMPDIR", "relative", 1);
    c = load(d, false, false, false, 0, &err);
    assert_string_equal(al_config_text(c, AL_OPT_FORGE_SCRATCH_ROOT), want);
    const char *const *notices;
    assert_int_equal(al_config_notices(c, &notices), 1);
    al_config_free(c);
    unsetenv("ALISIO_TMPDIR");
}

static void edits_touch_only_the_value(void **state)
{
    (void)state;
    static const struct {
        const char *old, *key, *value, *want;
    } cases[] = {
        {"", "forge.javascript.timeoutMs", "5",
         "{\n  \"forge\": {\n    \"javascript\": {\n      \"timeoutMs\": 5\n    }\n  }\n}\n"},
        {"{ \"forge\" : {\"javascript\":{ \"timeoutMs\":5 ,\t\"host\":\"auto\"}}}",
         "forge.javascript.timeoutMs", "60000",
         "{ \"forge\" : {\"javascript\":{ \"timeoutMs\":60000 ,\t\"host\":\"auto\"}}}"},
        {"{\n  \"other\": [1,  2],\n  \"forge\": {\n    \"state\": {}\n  }\n}", "forge.javascript.host",
         "process",
         "{\n  \"other\": [1,  2],\n  \"forge\": {\n    \"state\": {},\n    \"javascript\": {\n      "
         "\"host\": "
         "\"process\"\n    }\n  }\n}"},
        {"{\"storage\":{}}", "storage.maxBytes", "2000000",
         "{\"storage\":{\n    \"maxBytes\": 2000000\n  }}"},
        {"{\"a\":1}", "files.protect", "[\"x\"]",
         "{\"a\":1,\n  \"files\": {\n    \"protect\": [\"x\"]\n  }\n}"},
        {"{\"a\":1}", "files.protect", "x", "{\"a\":1,\n  \"files\": {\n    \"protect\": [\"x\"]\n  }\n}"},
        {"{\"forge\":{\"state\":{\"enabled\":true}}}", "forge.state.enabled", "null",
         "{\"forge\":{\"state\":{}}}"},
        {"{\"forge\":{\"state\":{\"enabled\":true, \"maxTotalBytes\":2000}}}", "forge.state.enabled", "null",
         "{\"forge\":{\"state\":{ \"maxTotalBytes\":2000}}}"},
        {"{\"forge\":{\"state\":{\"maxTotalBytes\":2000,\n\"enabled\":true\n}}}", "forge.state.enabled",
         "null", "{\"forge\":{\"state\":{\"maxTotalBytes\":2000\n}}}"},
        {"{\"a\":1}", "forge.state.enabled", "null", "{\"a\":1}"},
        {"{\"nope\":1}", "forge.scratch.root", "/tmp/x",
         "{\"nope\":1,\n  \"forge\": {\n    \"scratch\": {\n      \"root\": \"/tmp/x\"\n    }\n  }\n}"},
        {"{\"forge\":{\"state\":{\"enabled\":\"broken\"}}}", "forge.state.enabled", "false",
         "{\"forge\":{\"state\":{\"enabled\":false}}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        autobuf struct al_buf out = AL_BUF_INIT(65536);
        struct al_err err = {0};
        if (al_config_edit(al_str_of(cases[i].old), al_str_of(cases[i].key), al_str_of(cases[i].value), &out,
                           &err) < 0)
            fail_msg("%s", err.msg);
        al_buf_addc(&out, '\0');
        assert_string_equal(out.p, cases[i].want);
    }
}

static void edits_refuse_what_would_not_load(void **state)
{
    (void)state;
    static const struct {
        const char *old, *key, *value;
        enum al_code code;
        const char *words;
    } cases[] = {
        {"{}", "forge.javascript.timeoutMs", "abc", AL_INVALID_INPUT, "from 1 to 300000, not \"abc\""},
        {"{}", "forge.javascript.timeoutMs", "0", AL_INVALID_INPUT, "from 1 to 300000, not 0"},
        {"{}", "forge.javascript.timeoutMs", "", AL_INVALID_INPUT, "not \"\""},
        {"{}", "forge.javascript.host", "thread", AL_INVALID_INPUT, "\"auto\", \"process\", \"worker\""},
        {"{}", "forge.scratch.root", "here", AL_INVALID_INPUT, "absolute"},
        {"{}", "forge.javascrip.timeoutMs", "1", AL_INVALID_INPUT, "there is no configuration key"},
        {"{", "forge.javascript.timeoutMs", "1", AL_CONFIG_INVALID, "line 1"},
        {"[]", "forge.javascript.timeoutMs", "1", AL_CONFIG_INVALID, "JSON object"},
        {"{\"forge\":1}", "forge.javascript.timeoutMs", "1", AL_CONFIG_INVALID, "no object"},
        {"{\"forge\":{},\"forge\":{}}", "forge.javascript.timeoutMs", "1", AL_CONFIG_INVALID, "twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        autobuf struct al_buf out = AL_BUF_INIT(65536);
        struct al_err err = {0};
        assert_int_equal(al_config_edit(al_str_of(cases[i].old), al_str_of(cases[i].key),
                                        al_str_of(cases[i].value), &out, &err),
                         -1);
        assert_int_equal(err.code, cases[i].code);
        if (!strstr(err.msg, cases[i].words))
            fail_msg("%s", err.msg);
        assert_int_equal(out.n, 0);
    }
}

static void set_writes_a_private_file_and_follows_a_link(void **state)
{
    struct dir *d = *state;
    struct al_err err = {0};
    char file[160], real[160], *text;
    snprintf(file, sizeof file, "%s/home/config.json", d->path);
    if (al_config_set(file, AL_STR("forge.javascript.timeoutMs"), AL_STR("900"), &err) < 0)
        fail_msg("%s", err.msg);
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    snprintf(real, sizeof real, "%s/home", d->path);
    assert_int_equal(stat(real, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);

    snprintf(real, sizeof real, "%s/dot.json", d->path);
    write_file(real, "{\"storage\":{\"maxBytes\":2000000}}");
    assert_int_equal(chmod(real, 0644), 0);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(symlink(real, file), 0);
    if (al_config_set(file, AL_STR("storage.maxBytes"), AL_STR("3000000"), &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(lstat(file, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(real, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    text = read_file(real);
    assert_string_equal(text, "{\"storage\":{\"maxBytes\":3000000}}");
    free(text);
    assert_int_equal(al_config_set(file, AL_STR("storage.maxBytes"), AL_STR("1"), &err), -1);
    text = read_file(real);
    assert_string_equal(text, "{\"storage\":{\"maxBytes\":3000000}}");
    free(text);
}

static void unknown_keys_find_their_nearest(void **state)
{
    (void)state;
    enum al_opt o;
    struct al_err err;
    assert_int_equal(al_opt_find(AL_STR("forge.javascript.timeoutMS"), &o, &err), -1);
    assert_int_equal(err.code, AL_INVALID_INPUT);
    assert_non_null(strstr(err.hint, "forge.javascript.timeoutMs"));
    assert_int_equal(al_opt_find(AL_STR("qqqqqqqqqqqqqq"), &o, &err), -1);
    assert_non_null(strstr(err.hint, "alisio config show"));
    assert_int_equal(al_opt_find(AL_STR(""), &o, &err), -1);
    assert_int_equal(al_opt_find(AL_STR("forge"), &o, &err), -1);
}

static void folders_follow_the_environment(void **state)
{
    (void)state;
    static const struct {
        const char *own, *xdg, *home, *config, *state;
    } cases[] = {
        {"/o", "/x", "/h", "/o", "/o"},
        {"", "/x", "/h", "/x/alisio", "/x/alisio"},
        {NULL, "rel", "/h", "/h/.config/alisio", "/h/.local/state/alisio"},
        {NULL, NULL, "/h", "/h/.config/alisio", "/h/.local/state/alisio"},
    };
    static const char *const names[][2] = {{"ALISIO_CONFIG_HOME", "XDG_CONFIG_HOME"},
                                           {"ALISIO_STATE_HOME", "XDG_STATE_HOME"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int k = 0; k < 2; k++) {
            unsetenv(names[k][0]);
            unsetenv(names[k][1]);
            if (cases[i].own)
                setenv(names[k][0], cases[i].own, 1);
            if (cases[i].xdg)
                setenv(names[k][1], cases[i].xdg, 1);
        }
        setenv("HOME", cases[i].home, 1);
        autofree char *config = al_config_home();
        autofree char *st = al_state_home();
        assert_string_equal(config, cases[i].config);
        assert_string_equal(st, cases[i].state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_option_has_its_default_range_and_owner),
        cmocka_unit_test(an_image_by_its_tag_is_told_how_to_get_the_digest),
        cmocka_unit_test(every_option_is_in_the_truth_table),
        cmocka_unit_test(a_fault_names_line_key_and_nearest),
        cmocka_unit_test(a_project_loses_the_faulty_key_and_keeps_the_others),
        cmocka_unit_test(a_project_lowers_from_the_users_value_only),
        cmocka_unit_test(notices_are_bounded),
        cmocka_unit_test(the_default_time_never_exceeds_the_longest),
        cmocka_unit_test_setup_teardown(missing_files_are_fine, setup, teardown),
        cmocka_unit_test_setup_teardown(a_named_file_must_be_there_and_be_right, setup, teardown),
        cmocka_unit_test_setup_teardown(an_untrusted_project_is_not_read, setup, teardown),
        cmocka_unit_test_setup_teardown(the_bytes_that_were_hashed_are_used_and_not_read_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_project_file_that_is_a_link_or_a_pipe_is_ignored, setup, teardown),
        cmocka_unit_test_setup_teardown(a_broken_user_file_fails_and_still_gives_a_config, setup, teardown),
        cmocka_unit_test_setup_teardown(a_user_file_over_one_mebibyte_or_open_to_others_is_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_environment_wins_over_files, setup, teardown),
        cmocka_unit_test(edits_touch_only_the_value),
        cmocka_unit_test(edits_refuse_what_would_not_load),
        cmocka_unit_test_setup_teardown(set_writes_a_private_file_and_follows_a_link, setup, teardown),
        cmocka_unit_test(unknown_keys_find_their_nearest),
        cmocka_unit_test(folders_follow_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
