// Preloaded library (LD_PRELOAD) that intercepts the file calls of the C library. It counts the calls on files below a
// folder in one sequence over all threads. At the selected calls it kills the process or returns an error. The test
// controls it through a plan file that both processes map; see faults.rs.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, RENAME = 4, CREATE = 8, UNLINK = 16, TRUNCATE = 32, LINK = 64, OPEN = 128 };
// With this bit only calls on the root itself are counted, not those on paths that begin with it.
enum { EXACT = 256 };
enum { COUNT = 0, KILL = -1 };

// The plan. faults.rs writes the fields at the same offsets.
static struct {
    volatile uint64_t armed, kinds, first, many, seen, fired, synced_again;
    volatile int64_t action;
    char root[960];
    char last[1024];
} *plan;

// Open descriptors whose sync failed.
static unsigned char failed[65536];

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("GROUPWORK_FAULTS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *map = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map != MAP_FAILED) plan = map;
}

// Counts a call and returns whether it must fail. Sets errno.
static int fails(int kind, const char *name, const char *path) {
    if (!plan || !plan->armed || !(plan->kinds & kind)) return 0;
    if (strncmp(path, plan->root, strlen(plan->root)) != 0) return 0;
    if ((plan->kinds & EXACT) && path[strlen(plan->root)]) return 0;
    uint64_t number = __atomic_add_fetch(&plan->seen, 1, __ATOMIC_SEQ_CST);
    if (plan->action == COUNT || number < plan->first || number - plan->first >= plan->many) return 0;
    __atomic_add_fetch(&plan->fired, 1, __ATOMIC_SEQ_CST);
    snprintf(plan->last, sizeof plan->last, "%s %s", name, path + strlen(plan->root));
    if (plan->action == KILL) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    errno = (int)plan->action;
    return 1;
}

static int fails_on(int kind, const char *name, int file) {
    if (!plan || !plan->armed || !(plan->kinds & kind)) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return fails(kind, name, path);
}

#define NEXT(name, type, ...) \
    static type (*next)(__VA_ARGS__); \
    if (!next) next = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

ssize_t write(int file, const void *bytes, size_t count) {
    NEXT("write", ssize_t, int, const void *, size_t);
    return fails_on(WRITE, "write", file) ? -1 : next(file, bytes, count);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
    NEXT("pwrite", ssize_t, int, const void *, size_t, off_t);
    return fails_on(WRITE, "pwrite", file) ? -1 : next(file, bytes, count, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) {
    NEXT("pwrite64", ssize_t, int, const void *, size_t, off64_t);
    return fails_on(WRITE, "pwrite64", file) ? -1 : next(file, bytes, count, at);
}

static int sync_fails(const char *name, int file) {
    if (plan && file >= 0 && file < (int)sizeof failed && failed[file]) {
        __atomic_add_fetch(&plan->synced_again, 1, __ATOMIC_SEQ_CST);
    }
    if (!fails_on(SYNC, name, file)) return 0;
    if (file < (int)sizeof failed) failed[file] = 1;
    return 1;
}

int fsync(int file) {
    NEXT("fsync", int, int);
    return sync_fails("fsync", file) ? -1 : next(file);
}

int fdatasync(int file) {
    NEXT("fdatasync", int, int);
    return sync_fails("fdatasync", file) ? -1 : next(file);
}

int close(int file) {
    NEXT("close", int, int);
    if (file >= 0 && file < (int)sizeof failed) failed[file] = 0;
    return next(file);
}

int rename(const char *from, const char *to) {
    NEXT("rename", int, const char *, const char *);
    return fails(RENAME, "rename", to) ? -1 : next(from, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags) {
    NEXT("linkat", int, int, const char *, int, const char *, int);
    return fails(LINK, "linkat", to) ? -1 : next(a, from, b, to, flags);
}

int unlink(const char *path) {
    NEXT("unlink", int, const char *);
    return fails(UNLINK, "unlink", path) ? -1 : next(path);
}

int mkdir(const char *path, mode_t mode) {
    NEXT("mkdir", int, const char *, mode_t);
    return fails(CREATE, "mkdir", path) ? -1 : next(path, mode);
}

int ftruncate(int file, off_t length) {
    NEXT("ftruncate", int, int, off_t);
    return fails_on(TRUNCATE, "ftruncate", file) ? -1 : next(file, length);
}

int ftruncate64(int file, off64_t length) {
    NEXT("ftruncate64", int, int, off64_t);
    return fails_on(TRUNCATE, "ftruncate64", file) ? -1 : next(file, length);
}

#define OPENING(name) \
    int name(const char *path, int flags, ...) { \
        NEXT(#name, int, const char *, int, ...); \
        mode_t mode = 0; \
        if (flags & (O_CREAT | O_TMPFILE)) { \
            va_list rest; \
            va_start(rest, flags); \
            mode = va_arg(rest, mode_t); \
            va_end(rest); \
        } \
        int is_new = (flags & O_CREAT) && access(path, F_OK) != 0; \
        if (fails(is_new ? CREATE : OPEN, #name, path)) return -1; \
        return next(path, flags, mode); \
    }
OPENING(open)
OPENING(open64)
