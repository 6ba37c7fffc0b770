// Starts programs that may be taken over by what they read: with limits, and without a network.
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct sandbox_limits {
  // Of address space; 0 for no limit.
  uint64_t memory_bytes;
  // Of processor time; 0 for no limit.
  uint64_t processor_seconds;
  // Whether it runs in / without sockets, processes, files to write and root's privileges.
  int is_confined;
  // Whether its standard error is read instead of its standard output; the other is dropped.
  int reads_errors;
};

struct sandbox_process {
  pid_t process;
  // Non-blocking ends of pipes: to its standard input, from its output.
  int input;
  int output;
};

// Starts a program in a session of its own, which ends with the calling thread. Both lists end with a
// null. Returns 0 or an error number. One that cannot be confined ends with the status 126, one that
// is not there with 127.
int sandbox_start(char *const *arguments, char *const *environment, struct sandbox_limits limits,
                  struct sandbox_process *started);

// As write, but one that nobody reads any more is an error and no signal.
ssize_t sandbox_write(int descriptor, const void *bytes, size_t count);
