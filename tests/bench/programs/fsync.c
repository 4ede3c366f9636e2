/* Preloaded: counts fsync and fdatasync, and makes each take BENCH_FSYNC_US microseconds longer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static atomic_long count;
static long extra_us;
static int (*next_fsync)(int);
static int (*next_fdatasync)(int);

__attribute__((constructor)) static void prepare(void) {
    const char *given = getenv("BENCH_FSYNC_US");
    extra_us = given ? atol(given) : 0;
    next_fsync = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    next_fdatasync = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
}

static int slowed(int (*next)(int), int file) {
    atomic_fetch_add(&count, 1);
    if (extra_us > 0) {
        struct timespec extra = {extra_us / 1000000, extra_us % 1000000 * 1000};
        nanosleep(&extra, NULL);
    }
    return next(file);
}

int fsync(int file) { return slowed(next_fsync, file); }
int fdatasync(int file) { return slowed(next_fdatasync, file); }

long bench_fsyncs(void) { return atomic_load(&count); }
