#include "tools/publish_text.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define STAGING "analysis/staging"

struct publish {
    struct al_publish_text spec;
    char *parent, *folder; /* of the staging folder; its name in there */
    struct al_publication built;
    bool has_built;
};

bool al_publish_text_name(struct al_str name)
{
    bool fine = name.n > 0 && name.n <= 255 && name.p[0] != '.';
    for (size_t i = 0; fine && i < name.n; i++)
        fine = name.p[i] != '/' && name.p[i] != '\\' && (unsigned char)name.p[i] >= 0x20 && name.p[i] != 0x7f;
    return fine;
}

void al_publish_text_provenance(const struct al_call *call, struct al_jw *w)
{
    al_jw_obj(w);
    al_jw_kstrz(w, "tool", call->tool->name);
    al_jw_kstrz(w, "sessionId", al_core_session(call->core)->id);
    if (call->run_id)
        al_jw_kstrz(w, "runId", call->run_id);
    if (call->client.n)
        al_jw_kraw(w, "client", call->client);
}

static int write_file(const struct publish *p, int dir_fd, struct al_err *err)
{
    char name[256];
    snprintf(name, sizeof name, "%.*s", AL_FMT(p->spec.name));
    autofd int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int r = fd < 0 ? -errno : al_fd_write_all(fd, p->spec.text);
    return r < 0
               ? al_fail_errno(err, AL_TOOL_ERROR, -r, "the text cannot be written to alisio's state folder")
               : 0;
}

static struct al_publish_limits limits_of(const struct al_config *config)
{
    return (struct al_publish_limits){
        .max_files = (uint64_t)al_config_int(config, AL_OPT_ANALYSIS_LIMITS_MAX_FILES),
        .max_file_bytes = (uint64_t)al_config_int(config, AL_OPT_ANALYSIS_LIMITS_MAX_FILE_BYTES),
        .max_output_bytes = (uint64_t)al_config_int(config, AL_OPT_ANALYSIS_LIMITS_MAX_OUTPUT_BYTES),
    };
}

static int build(struct publish *p, struct al_err *err)
{
    struct al_core *core = p->spec.call->core;
    autofree char *path = NULL;
    if (asprintf(&path, "%s/%s", p->parent, p->folder) < 0 || al_path_private_dir(path, err) < 0)
        return -1;
    autofd int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return al_fail_errno(err, AL_TOOL_ERROR, errno, "alisio's state folder cannot be used");
    if (write_file(p, fd, err) < 0)
        return -1;
    struct al_publish_spec spec = {
        .state_dir = al_store_dir(al_core_store(core)),
        .workspace = al_workspace_root(al_core_workspace(core)),
        .session = al_core_session(core)->id,
        .staging_fd = fd,
        .title = p->spec.title,
        .limits = limits_of(al_core_config(core)),
        .provenance = p->spec.provenance,
    };
    return al_publish_build(&spec, &p->built, err);
}

static void work(void *ud)
{
    struct publish *p = ud;
    p->has_built = build(p, &p->spec.call->err) == 0;
    autofd int parent = open(p->parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (parent >= 0)
        (void)!al_path_remove_tree(parent, p->folder);
}

static bool commit(struct publish *p)
{
    struct al_call *call = p->spec.call;
    struct al_core *core = call->core;
    uint64_t max = (uint64_t)al_config_int(al_core_config(core), AL_OPT_STORAGE_MAX_BYTES);
    if (!p->has_built || atomic_load(&call->cancelled))
        return false;
    if (p->built.n == 0) {
        al_fail(&call->err, AL_PUBLISH_REJECTED, "nothing was published");
        return false;
    }
    return al_publish_commit(&p->built, al_core_store(core), max, &call->err) >= 0;
}

static void built(void *ud)
{
    struct publish *p = ud;
    bool made = commit(p);
    p->spec.done(p->spec.ud, made ? &p->built : NULL);
    if (p->has_built)
        al_publication_fini(&p->built);
    free(p->parent);
    free(p->folder);
    free(p);
}

/* Folders of hosts that were killed while they published. Names begin with the host's id. */
static void sweep_staging(const struct al_store *store, const char *parent)
{
    DIR *d = opendir(parent);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));) {
        char host[AL_ID_MAX];
        const char *dot = strchr(e->d_name, '.');
        if (!dot || dot == e->d_name || (size_t)(dot - e->d_name) >= sizeof host)
            continue;
        snprintf(host, sizeof host, "%.*s", (int)(dot - e->d_name), e->d_name);
        if (strcmp(host, al_store_host_id(store)) != 0 && !al_store_host_alive(store, host))
            (void)!al_path_remove_tree(dirfd(d), e->d_name);
    }
    closedir(d);
}

void al_publish_text(const struct al_publish_text *spec)
{
    struct al_core *core = spec->call->core;
    const struct al_store *store = al_core_store(core);
    struct publish *p = al_xcalloc(1, sizeof *p);
    char id[AL_ID_MAX];
    p->spec = *spec;
    al_id_new(id, "new");
    if (asprintf(&p->parent, "%s/" STAGING, al_store_dir(store)) < 0 ||
        asprintf(&p->folder, "%s.%s", al_store_host_id(store), id) < 0)
        abort();
    sweep_staging(store, p->parent);
    al_work_start(al_core_loop(core), work, built, p);
}
