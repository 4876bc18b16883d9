/* The clients that setup knows: where their files are, and what an entry looks like. */
#include "cli/setup_int.h"

#include "base/mem.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char *join(const char *dir, const char *rest)
{
    struct al_buf b = AL_BUF_INIT(1 << 16);
    al_buf_addf(&b, "%s/%s", dir, rest);
    return al_buf_failed(&b) ? (al_buf_free(&b), al_xstrdup("/")) : al_buf_take(&b);
}

static char *home(void)
{
    const char *z = getenv("HOME");
    const struct passwd *pw = z && z[0] == '/' ? NULL : getpwuid(geteuid());
    return al_xstrdup(z && z[0] == '/' ? z : pw && pw->pw_dir ? pw->pw_dir : "/");
}

/* A folder that a variable names, else one below home. */
static char *folder(const char *variable, const char *below_home)
{
    const char *z = getenv(variable);
    autofree char *h = home();
    if (z && z[0] == '/')
        return al_xstrdup(z);
    return below_home ? join(h, below_home) : al_xstrdup(h);
}

static char *in_folder(const char *variable, const char *below_home, const char *file)
{
    autofree char *dir = folder(variable, below_home);
    return join(dir, file);
}

static char *find_claude_code(void)
{
    return in_folder("CLAUDE_CONFIG_DIR", NULL, ".claude.json");
}

static char *find_claude_desktop(void)
{
    return in_folder("XDG_CONFIG_HOME", ".config", "Claude/claude_desktop_config.json");
}

static char *find_codex(void)
{
    return in_folder("CODEX_HOME", ".codex", "config.toml");
}

static char *find_cursor(void)
{
    autofree char *h = home();
    return join(h, ".cursor/mcp.json");
}

static char *find_vscode(void)
{
    return in_folder("XDG_CONFIG_HOME", ".config", "Code/User/mcp.json");
}

static char *find_opencode(void)
{
    static const char *const names[] = {"opencode/opencode.jsonc", "opencode/opencode.json",
                                        "opencode/config.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = in_folder("XDG_CONFIG_HOME", ".config", names[i]);
        if (access(path, F_OK) == 0)
            return path;
        free(path);
    }
    return in_folder("XDG_CONFIG_HOME", ".config", names[1]);
}

static char *find_gemini(void)
{
    return in_folder("GEMINI_CLI_HOME", NULL, ".gemini/settings.json");
}

const struct al_client al_client_table[] = {
    {"claude-code", "Claude Code", "mcpServers", .typed = true, .project_file = ".mcp.json",
     .find = find_claude_code},
    {"claude-desktop", "Claude Desktop", "mcpServers", .find = find_claude_desktop},
    {"codex", "Codex", "mcp_servers", .toml = true, .project_file = ".codex/config.toml", .find = find_codex},
    {"cursor", "Cursor", "mcpServers", .project_file = ".cursor/mcp.json", .find = find_cursor},
    {"vscode", "VS Code", "servers", .typed = true, .project_file = ".vscode/mcp.json", .find = find_vscode},
    {"opencode", "opencode", "mcp", .opencode = true, .project_file = "opencode.json", .find = find_opencode},
    {"gemini", "Gemini CLI", "mcpServers", .gemini = true, .project_file = ".gemini/settings.json",
     .find = find_gemini},
};
const size_t al_n_clients = sizeof al_client_table / sizeof *al_client_table;

const struct al_client *al_client_find(const char *name, struct al_err *err)
{
    const struct al_client *near = NULL;
    unsigned best = 4;
    for (size_t i = 0; i < al_n_clients; i++) {
        unsigned d = al_str_distance(al_str_of(name), al_str_of(al_client_table[i].name));
        if (d == 0)
            return &al_client_table[i];
        if (d < best) {
            best = d;
            near = &al_client_table[i];
        }
    }
    al_fail(err, AL_INVALID_INPUT, "setup does not know the client %.60s", name);
    if (near)
        al_hint(err, "did you mean %s?", near->name);
    else
        al_hint(err, "claude-code, claude-desktop, codex, cursor, vscode, opencode or gemini");
    return NULL;
}

void al_client_entry(const struct al_client *c, const char *own_path, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    if (c->opencode) {
        al_jw_kstrz(&w, "type", "local");
        al_jw_key(&w, "command");
        al_jw_arr(&w);
        al_jw_strz(&w, own_path);
    } else {
        if (c->typed)
            al_jw_kstrz(&w, "type", "stdio");
        al_jw_kstrz(&w, "command", own_path);
        al_jw_key(&w, "args");
        al_jw_arr(&w);
    }
    al_jw_strz(&w, "mcp");
    al_jw_end(&w);
    al_jw_end(&w);
}

/* --- its servers --- */

static const char bom[] = "\xef\xbb\xbf";

int al_client_read(const struct al_client *c, struct al_str text, const char *shown, struct al_servers *ret,
                   struct al_buf *notices, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 30);
    autobuf struct al_buf plain = AL_BUF_INIT(AL_SETUP_MAX_FILE), one = AL_BUF_INIT(AL_SETUP_MAX_FILE);
    const struct al_json *root;
    struct al_err why;
    if (c->toml)
        return al_servers_read(text, AL_SERVERS_CODEX_TOML, shown, ret, notices, err);
    if (al_str_starts(text, bom))
        text = (struct al_str){text.p + 3, text.n - 3};
    if (al_str_trim(text).n == 0)
        return 0;
    al_jsonc_plain(text, &plain);
    if (al_json_parse(&a, al_buf_str(&plain), &root, &why) < 0)
        return al_fail(err, AL_CONFIG_INVALID, "%s, %s", shown, why.msg);
    if (root->type != AL_JSON_OBJECT)
        return al_fail(err, AL_CONFIG_INVALID, "%s, line 1: it must be a JSON object", shown);
    const struct al_json *servers = al_json_get(root, c->container);
    if (!servers || servers->type == AL_JSON_NULL)
        return 0;
    if (servers->type != AL_JSON_OBJECT)
        return al_fail(err, AL_CONFIG_INVALID, "%s: its %s is no object", shown, c->container);
    /* The file may have servers of other scopes; these alone are read. */
    al_buf_addf(&one, "{\"%s\":", c->container);
    al_buf_add_str(&one, servers->raw);
    al_buf_addc(&one, '}');
    return al_servers_read(al_buf_str(&one), c->gemini ? AL_SERVERS_GEMINI : AL_SERVERS_ANY_JSON, shown, ret,
                           notices, err);
}

int al_client_edit(const struct al_client *c, struct al_str text, const struct al_str *remove,
                   size_t n_remove, struct al_str entry, const char *shown, struct al_buf *out,
                   struct al_err *err)
{
    struct al_text_edit e = {
        .steps = {al_str_of(c->container)}, .n_steps = 1, .remove = remove, .n_remove = n_remove};
    if (entry.n) {
        e.put_name = AL_STR(AL_SETUP_ENTRY);
        e.put_value = entry;
    }
    return c->toml ? al_text_edit_toml(text, &e, shown, out, err)
                   : al_text_edit_json(text, &e, shown, out, err);
}

/* --- other scopes --- */

static void claude_projects(struct al_str text, struct al_buf *out)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 30);
    const struct al_json *root;
    if (al_json_parse(&a, text, &root, NULL) < 0)
        return;
    al_json_each(p, al_json_get(root, "projects"))
    {
        const struct al_json *servers = al_json_get(p, "mcpServers");
        if (!servers || servers->type != AL_JSON_OBJECT || servers->n == 0)
            continue;
        autofree char *dir = al_xdup(p->key.p, p->key.n);
        al_buf_addf(out, "%u server%s of the project ", servers->n, servers->n == 1 ? "" : "s");
        al_say_plain(out, dir);
        al_buf_adds(out, " in the same file\n");
    }
}

void al_client_other_scopes(const struct al_client *c, struct al_app *app, struct al_str text,
                            struct al_buf *out)
{
    struct al_err err;
    if (strcmp(c->name, "claude-code") == 0)
        claude_projects(text, out);
    if (!c->project_file || al_app_workspace(app, &err) < 0)
        return;
    autofree char *path = join(app->workspace, c->project_file), *own = c->find();
    if (access(path, F_OK) != 0 || strcmp(path, own) == 0)
        return;
    al_buf_adds(out, "the file ");
    al_say_plain(out, path);
    al_buf_adds(out, " of this folder: `alisio mcp import` copies its servers\n");
}
