// What needs more of the C library than Swift's own view of it has, and so cannot be inline.
#define _GNU_SOURCE
#include "CEventLoops.h"

#include <fcntl.h>

int event_pipe(int *ends) { return pipe2(ends, O_CLOEXEC); }
