#include "db/fdvfs.h"

#include "base/fdstat.h"
#include "base/mem.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CHUNK ((int64_t)256 << 10)
#define NO_CHUNK UINT32_MAX
#define ZEROS ((size_t)16 << 10)

/* The one spill file: chunks from 0 to n_chunks were used at some time, those in free_list are not used now.
 */
static struct {
    int fd;
    uint32_t n_chunks, max_chunks;
    uint32_t *free_list;
    uint32_t n_free, cap_free;
    bool was_full;
} spill = {.fd = -1};
static uint64_t random_state;

struct main_file {
    sqlite3_file base;
    int fd; /* borrowed */
    bool read_only;
};

/* Bytes below size in a mapped chunk are what was written, or zeros; what is not mapped reads as zeros. */
struct temp_file {
    sqlite3_file base;
    uint32_t *map;
    uint32_t n_map, cap_map;
    int64_t size;
};

/* SQLITE_OK, or SQLITE_IOERR_SHORT_READ with the rest as zeros, as SQLite wants it. */
static int read_at(int fd, char *p, size_t n, int64_t at)
{
    while (n) {
        ssize_t got = pread(fd, p, n, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return SQLITE_IOERR_READ;
        if (got == 0) {
            memset(p, 0, n);
            return SQLITE_IOERR_SHORT_READ;
        }
        p += got;
        n -= (size_t)got;
        at += got;
    }
    return SQLITE_OK;
}

static int write_at(int fd, const char *p, size_t n, int64_t at)
{
    while (n) {
        ssize_t put = pwrite(fd, p, n, at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno == ENOSPC || errno == EFBIG || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
        p += put;
        n -= (size_t)put;
        at += put;
    }
    return SQLITE_OK;
}

/* Databases. */

static int main_close(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

static int main_read(sqlite3_file *file, void *p, int n, sqlite3_int64 at)
{
    return read_at(((struct main_file *)file)->fd, p, (size_t)n, at);
}

static int main_write(sqlite3_file *file, const void *p, int n, sqlite3_int64 at)
{
    struct main_file *f = (struct main_file *)file;
    return f->read_only ? SQLITE_READONLY : write_at(f->fd, p, (size_t)n, at);
}

static int main_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct main_file *f = (struct main_file *)file;
    if (f->read_only)
        return SQLITE_READONLY;
    return ftruncate(f->fd, size) < 0 ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int main_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    struct stat st;
    if (al_fstat(((struct main_file *)file)->fd, &st) < 0)
        return SQLITE_IOERR_FSTAT;
    *ret = st.st_size;
    return SQLITE_OK;
}

/* A file that is only read does not change meanwhile: SQLite then asks for nothing between two statements. */
static int main_device(sqlite3_file *file)
{
    return ((struct main_file *)file)->read_only ? SQLITE_IOCAP_IMMUTABLE : 0;
}

/* Temporary files. */

static bool take_chunk(uint32_t *ret, bool *used_before)
{
    *used_before = spill.n_free > 0;
    if (spill.n_free)
        *ret = spill.free_list[--spill.n_free];
    else if (spill.n_chunks < spill.max_chunks)
        *ret = spill.n_chunks++;
    else
        return false;
    return true;
}

static void give_chunk(uint32_t chunk)
{
    if (spill.n_free == spill.cap_free) {
        spill.cap_free = spill.cap_free ? spill.cap_free * 2 : 64;
        spill.free_list = al_xrealloc(spill.free_list, spill.cap_free * sizeof *spill.free_list);
    }
    spill.free_list[spill.n_free++] = chunk;
}

static int spill_write(const char *p, size_t n, int64_t at)
{
    int rc = write_at(spill.fd, p, n, at);
    spill.was_full |= rc == SQLITE_FULL;
    return rc;
}

static int spill_zero(int64_t at, int64_t n)
{
    static const char zeros[ZEROS];
    int rc = SQLITE_OK;
    while (n > 0 && rc == SQLITE_OK) {
        size_t piece = n < (int64_t)ZEROS ? (size_t)n : ZEROS;
        rc = spill_write(zeros, piece, at);
        at += (int64_t)piece;
        n -= (int64_t)piece;
    }
    return rc;
}

/* Gives the file its chunk of that index. One that somebody else used is wiped, unless the write that asks
 * begins where the chunk and the unwritten part of the file begin. */
static int map_chunk(struct temp_file *f, uint32_t index, int64_t at)
{
    while (f->n_map <= index) {
        if (f->n_map == f->cap_map) {
            f->cap_map = f->cap_map ? f->cap_map * 2 : 16;
            f->map = al_xrealloc(f->map, f->cap_map * sizeof *f->map);
        }
        f->map[f->n_map++] = NO_CHUNK;
    }
    bool used_before;
    uint32_t chunk;
    if (!take_chunk(&chunk, &used_before)) {
        spill.was_full = true;
        return SQLITE_FULL;
    }
    bool fills_in_order = at == (int64_t)index * CHUNK && f->size <= at;
    int rc = used_before && !fills_in_order ? spill_zero((int64_t)chunk * CHUNK, CHUNK) : SQLITE_OK;
    if (rc != SQLITE_OK)
        give_chunk(chunk);
    else
        f->map[index] = chunk;
    return rc;
}

static int temp_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct temp_file *f = (struct temp_file *)file;
    if (size >= f->size)
        return SQLITE_OK;
    uint32_t keep = (uint32_t)((size + CHUNK - 1) / CHUNK);
    while (f->n_map > keep) {
        uint32_t chunk = f->map[--f->n_map];
        if (chunk != NO_CHUNK)
            give_chunk(chunk);
    }
    f->size = size;
    return SQLITE_OK;
}

static int temp_close(sqlite3_file *file)
{
    struct temp_file *f = (struct temp_file *)file;
    (void)temp_truncate(file, 0);
    free(f->map);
    f->map = NULL;
    f->cap_map = 0;
    return SQLITE_OK;
}

static int temp_read(sqlite3_file *file, void *buf, int amount, sqlite3_int64 at)
{
    struct temp_file *f = (struct temp_file *)file;
    char *p = buf;
    int64_t n = amount, there = f->size > at ? f->size - at : 0;
    bool is_short = n > there;
    if (is_short) {
        memset(p + there, 0, (size_t)(n - there));
        n = there;
    }
    while (n > 0) {
        int64_t index = at / CHUNK, off = at % CHUNK, piece = n < CHUNK - off ? n : CHUNK - off;
        if (index >= f->n_map || f->map[index] == NO_CHUNK) {
            memset(p, 0, (size_t)piece);
        } else {
            /* A chunk's end may not have been written yet: the spill file then ends before it. */
            int rc = read_at(spill.fd, p, (size_t)piece, (int64_t)f->map[index] * CHUNK + off);
            if (rc != SQLITE_OK && rc != SQLITE_IOERR_SHORT_READ)
                return rc;
        }
        p += piece;
        at += piece;
        n -= piece;
    }
    return is_short ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

/* Between the file's end and a write beyond it lie zeros: those of the chunk that the file ends in. */
static int fill_gap(struct temp_file *f, int64_t at)
{
    int64_t index = f->size / CHUNK, off = f->size % CHUNK;
    if (at <= f->size || index >= f->n_map || f->map[index] == NO_CHUNK)
        return SQLITE_OK;
    int64_t end = at < (index + 1) * CHUNK ? at % CHUNK : CHUNK;
    return spill_zero((int64_t)f->map[index] * CHUNK + off, end - off);
}

static int temp_write(sqlite3_file *file, const void *buf, int amount, sqlite3_int64 at)
{
    struct temp_file *f = (struct temp_file *)file;
    const char *p = buf;
    int64_t n = amount;
    int rc = fill_gap(f, at);
    while (n > 0 && rc == SQLITE_OK) {
        int64_t index = at / CHUNK, off = at % CHUNK, piece = n < CHUNK - off ? n : CHUNK - off;
        if (index >= spill.max_chunks) {
            spill.was_full = true;
            return SQLITE_FULL;
        }
        if (index >= f->n_map || f->map[index] == NO_CHUNK)
            rc = map_chunk(f, (uint32_t)index, at);
        if (rc == SQLITE_OK)
            rc = spill_write(p, (size_t)piece, (int64_t)f->map[index] * CHUNK + off);
        if (rc != SQLITE_OK)
            break;
        p += piece;
        at += piece;
        n -= piece;
        f->size = at > f->size ? at : f->size;
    }
    return rc;
}

static int temp_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    *ret = ((struct temp_file *)file)->size;
    return SQLITE_OK;
}

static int temp_device(sqlite3_file *file)
{
    (void)file;
    return 0;
}

/* What both kinds have no need of: nobody else has these files, and none outlives its process for long. */

static int no_sync(sqlite3_file *file, int flags)
{
    (void)file, (void)flags;
    return SQLITE_OK;
}

static int no_lock(sqlite3_file *file, int level)
{
    (void)file, (void)level;
    return SQLITE_OK;
}

static int no_reserved(sqlite3_file *file, int *ret)
{
    (void)file;
    *ret = 0;
    return SQLITE_OK;
}

static int no_control(sqlite3_file *file, int op, void *arg)
{
    (void)file, (void)op, (void)arg;
    return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file)
{
    (void)file;
    return 4096;
}

static const sqlite3_io_methods main_methods = {
    .iVersion = 1,
    .xClose = main_close,
    .xRead = main_read,
    .xWrite = main_write,
    .xTruncate = main_truncate,
    .xSync = no_sync,
    .xFileSize = main_size,
    .xLock = no_lock,
    .xUnlock = no_lock,
    .xCheckReservedLock = no_reserved,
    .xFileControl = no_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = main_device,
};
static const sqlite3_io_methods temp_methods = {
    .iVersion = 1,
    .xClose = temp_close,
    .xRead = temp_read,
    .xWrite = temp_write,
    .xTruncate = temp_truncate,
    .xSync = no_sync,
    .xFileSize = temp_size,
    .xLock = no_lock,
    .xUnlock = no_lock,
    .xCheckReservedLock = no_reserved,
    .xFileControl = no_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = temp_device,
};

/* The VFS. */

/* N of "fd:N", or -1. */
static int fd_of(const char *name)
{
    int fd = 0;
    if (strncmp(name, "fd:", 3) != 0 || !name[3])
        return -1;
    for (const char *p = name + 3; *p; p++) {
        if (*p < '0' || *p > '9' || fd > 100000)
            return -1;
        fd = fd * 10 + (*p - '0');
    }
    return fd;
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
    (void)vfs;
    file->pMethods = NULL;
    if (flags & SQLITE_OPEN_MAIN_DB) {
        struct main_file *f = (struct main_file *)file;
        struct stat st;
        int fd = name ? fd_of(name) : -1;
        if (fd < 0 || al_fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
            return SQLITE_CANTOPEN;
        *f = (struct main_file){{&main_methods}, fd, (flags & SQLITE_OPEN_READONLY) != 0};
    } else if (flags & (SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_TRANSIENT_DB |
                        SQLITE_OPEN_SUBJOURNAL)) {
        if (spill.fd < 0)
            return SQLITE_CANTOPEN;
        *(struct temp_file *)file = (struct temp_file){.base = {&temp_methods}};
    } else {
        return SQLITE_CANTOPEN;
    }
    if (ret_flags)
        *ret_flags = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_dir)
{
    (void)vfs, (void)name, (void)sync_dir;
    return SQLITE_IOERR_DELETE_NOENT;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
    (void)vfs, (void)name, (void)flags;
    *ret = 0;
    return SQLITE_OK;
}

static int vfs_full_name(sqlite3_vfs *vfs, const char *name, int cap, char *out)
{
    (void)vfs;
    size_t n = strlen(name);
    if (n >= (size_t)cap)
        return SQLITE_CANTOPEN;
    memcpy(out, name, n + 1);
    return SQLITE_OK;
}

/* splitmix64 (Steele, Lea, Flood 2014): it seeds SQLite's own generator, no secret depends on it. */
static int vfs_random(sqlite3_vfs *vfs, int n, char *out)
{
    (void)vfs;
    for (int i = 0; i < n; i += 8) {
        uint64_t z = random_state += 0x9E3779B97F4A7C15ULL;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        z ^= z >> 31;
        memcpy(out + i, &z, n - i < 8 ? (size_t)(n - i) : 8);
    }
    return n;
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    return us;
}

static int vfs_now(sqlite3_vfs *vfs, sqlite3_int64 *ret)
{
    (void)vfs;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    *ret = 210866760000000 + (sqlite3_int64)t.tv_sec * 1000 + t.tv_nsec / 1000000; /* Julian day, in ms */
    return SQLITE_OK;
}

static int vfs_now_days(sqlite3_vfs *vfs, double *ret)
{
    sqlite3_int64 ms;
    vfs_now(vfs, &ms);
    *ret = (double)ms / 86400000.0;
    return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *vfs, int n, char *out)
{
    (void)vfs, (void)n, (void)out;
    return 0;
}

static sqlite3_vfs the_vfs = {
    .iVersion = 2,
    .szOsFile = sizeof(struct temp_file) > sizeof(struct main_file) ? sizeof(struct temp_file)
                                                                    : sizeof(struct main_file),
    .mxPathname = 64,
    .zName = "alfd",
    .xOpen = vfs_open,
    .xDelete = vfs_delete,
    .xAccess = vfs_access,
    .xFullPathname = vfs_full_name,
    .xRandomness = vfs_random,
    .xSleep = vfs_sleep,
    .xCurrentTime = vfs_now_days,
    .xGetLastError = vfs_last_error,
    .xCurrentTimeInt64 = vfs_now,
};

int al_fdvfs_register(int spill_fd, uint64_t spill_max, struct al_err *err)
{
    if (!random_state)
        vfs_now(NULL, (sqlite3_int64 *)&random_state);
    uint64_t chunks = spill_max / (uint64_t)CHUNK;
    spill.fd = spill_fd;
    spill.max_chunks = chunks < NO_CHUNK ? (uint32_t)chunks : NO_CHUNK - 1;
    spill.n_chunks = spill.n_free = 0;
    spill.was_full = false;
    if (sqlite3_vfs_register(&the_vfs, 1) != SQLITE_OK)
        return al_fail(err, AL_INTERNAL, "SQLite took no VFS");
    return 0;
}

bool al_fdvfs_spill_was_full(void)
{
    return spill.was_full;
}

void al_fdvfs_seed(uint64_t seed)
{
    random_state = seed;
}
