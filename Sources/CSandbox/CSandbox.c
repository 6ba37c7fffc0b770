#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define SANDBOX_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define SANDBOX_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "The sandbox does not know this architecture's system calls."
#endif

#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE(number) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), ANSWER(SECCOMP_RET_ERRNO | EPERM)

#define MISS(number) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), ANSWER(SECCOMP_RET_ERRNO | ENOSYS)
#define REFUSE_FLAG(number, place, flag)                                                      \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4), LOAD(args[place]),                       \
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flag, 0, 1), ANSWER(SECCOMP_RET_ERRNO | EACCES), \
      ANSWER(SECCOMP_RET_ALLOW)

// No sockets, no files made, no processes but its own threads, nobody else's memory.
static int forbid_calls(void) {
  struct sock_filter filter[] = {
      LOAD(arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SANDBOX_ARCHITECTURE, 1, 0),
      ANSWER(SECCOMP_RET_KILL_PROCESS),
      LOAD(nr),
#if defined(__x86_64__)
      // The x32 forms of all calls.
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
      ANSWER(SECCOMP_RET_KILL_PROCESS),
      REFUSE(SYS_fork),
      REFUSE(SYS_vfork),
      REFUSE(SYS_creat),
      REFUSE_FLAG(SYS_open, 1, O_CREAT),
#endif
      REFUSE_FLAG(SYS_openat, 2, O_CREAT),
      // openat2, whose flags cannot be seen here.
      MISS(437),
      REFUSE(SYS_socket),
      REFUSE(SYS_socketpair),
      REFUSE(SYS_connect),
      REFUSE(SYS_bind),
      REFUSE(SYS_sendto),
      REFUSE(SYS_sendmsg),
      REFUSE(SYS_ptrace),
      REFUSE(SYS_process_vm_readv),
      REFUSE(SYS_process_vm_writev),
      REFUSE(SYS_kill),
      REFUSE(SYS_unshare),
      REFUSE(SYS_setns),
      REFUSE(SYS_mount),
      REFUSE(SYS_bpf),
      REFUSE(SYS_perf_event_open),
      REFUSE(SYS_keyctl),
      REFUSE(SYS_add_key),
      REFUSE(SYS_request_key),
      REFUSE(SYS_userfaultfd),
      // io_uring, by which the others could be called.
      REFUSE(425),
      REFUSE(426),
      REFUSE(427),
      // clone3 likewise: the C library then takes clone.
      MISS(435),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
      LOAD(args[0]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
      ANSWER(SECCOMP_RET_ERRNO | EPERM),
      ANSWER(SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

static int limit(int what, uint64_t most) {
  struct rlimit both = {.rlim_cur = most, .rlim_max = most};
  return setrlimit(what, &both);
}

// In the child: only calls that are safe after a fork of one thread among many.
static void become(char *const *arguments, char *const *environment, struct sandbox_limits limits,
                   int input, int output) {
  setsid();
  for (int number = 1; number < 65; number++) signal(number, SIG_DFL);
  int nothing = open("/dev/null", O_WRONLY);
  int errors = limits.reads_errors ? output : nothing;
  if (limits.reads_errors) output = nothing;
  if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(errors, 2) < 0) return;
#ifdef SYS_close_range
  if (syscall(SYS_close_range, 3u, ~0u, 0u) != 0)
#endif
    for (int other = 3; other < 65536; other++) close(other);
  if (limits.is_confined && chdir("/") != 0) return;
  if (limits.processor_seconds > 0 && limit(RLIMIT_CPU, limits.processor_seconds) != 0) return;
  if (limits.memory_bytes > 0 && limit(RLIMIT_AS, limits.memory_bytes) != 0) return;
  limit(RLIMIT_CORE, 0);
  if (limits.is_confined) {
    // Told by an error, which libraries that want a file for their own use get over.
    signal(SIGXFSZ, SIG_IGN);
    if (limit(RLIMIT_FSIZE, 0) != 0 || limit(RLIMIT_NOFILE, 64) != 0) return;
    if (geteuid() == 0) {
      // Nobody, who may read what everybody may.
      if (setgroups(0, 0) != 0 || setresgid(65534, 65534, 65534) != 0 ||
          setresuid(65534, 65534, 65534) != 0)
        return;
    }
  }
  // After the change of user, which takes it back.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  if (limits.is_confined && forbid_calls() != 0) return;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, 0);
  execve(arguments[0], arguments, environment);
  _exit(127);
}

int sandbox_start(char *const *arguments, char *const *environment, struct sandbox_limits limits,
                  struct sandbox_process *started) {
  int input[2], output[2];
  if (pipe2(input, O_CLOEXEC) != 0) return errno;
  if (pipe2(output, O_CLOEXEC) != 0) {
    int error = errno;
    close(input[0]);
    close(input[1]);
    return error;
  }
  // No handler of this process runs in the child.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t process = fork();
  int error = errno;
  if (process == 0) {
    become(arguments, environment, limits, input[0], output[1]);
    _exit(126);
  }
  pthread_sigmask(SIG_SETMASK, &before, 0);
  close(input[0]);
  close(output[1]);
  if (process < 0) {
    close(input[1]);
    close(output[0]);
    return error;
  }
  fcntl(input[1], F_SETFL, O_NONBLOCK);
  fcntl(output[0], F_SETFL, O_NONBLOCK);
  *started = (struct sandbox_process){.process = process, .input = input[1], .output = output[0]};
  return 0;
}

ssize_t sandbox_write(int descriptor, const void *bytes, size_t count) {
  sigset_t broken, before, pending;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  sigpending(&pending);
  int was_pending = sigismember(&pending, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, &before);
  ssize_t written = write(descriptor, bytes, count);
  int error = errno;
  // It came to this thread, and is taken from it before anybody sees it.
  struct timespec now = {0, 0};
  if (written < 0 && error == EPIPE && !was_pending)
    while (sigtimedwait(&broken, 0, &now) < 0 && errno == EINTR) continue;
  pthread_sigmask(SIG_SETMASK, &before, 0);
  errno = error;
  return written;
}
