// What needs more of the C library than Swift's own view of it has, and so cannot be inline.
#define _GNU_SOURCE
#include "CEventLoops.h"

#include <fcntl.h>

int event_pipe(int *ends) { return pipe2(ends, O_CLOEXEC); }

#if __has_feature(thread_sanitizer)
void __tsan_acquire(void *address);
void __tsan_release(void *address);
static char locks[1024];
void event_lock_taken(int number) { __tsan_acquire(&locks[number & 1023]); }
void event_lock_left(int number) { __tsan_release(&locks[number & 1023]); }
#else
void event_lock_taken(int number) { (void)number; }
void event_lock_left(int number) { (void)number; }
#endif
