// What Swift cannot see of the C library (epoll's constants, eventfd, accept4) as inline wrappers.
#pragma once

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
  EVENT_READABLE = EPOLLIN,
  EVENT_WRITABLE = EPOLLOUT,
  EVENT_PEER_CLOSED = EPOLLRDHUP,
  EVENT_ERROR = EPOLLERR,
  EVENT_HUNG_UP = EPOLLHUP
};

// glibc declares it for _GNU_SOURCE only, which would change other headers under Swift's importer.
extern int accept4(int, struct sockaddr *, socklen_t *, int);

static inline int event_poll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static inline int event_poll_set(int poll, int descriptor, uint32_t events, uint64_t token,
                                 int is_new) {
  struct epoll_event event = {.events = events, .data = {.u64 = token}};
  return epoll_ctl(poll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event);
}

static inline int event_poll_remove(int poll, int descriptor) {
  return epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, 0);
}

// Fills tokens and events with what is ready, waiting for it up to so many milliseconds (-1: for
// ever); returns how many.
static inline int event_poll_wait(int poll, uint64_t *tokens, uint32_t *events, int capacity,
                                  int milliseconds) {
  struct epoll_event ready[256];
  int count = epoll_wait(poll, ready, capacity < 256 ? capacity : 256, milliseconds);
  for (int i = 0; i < count; i++) {
    tokens[i] = ready[i].data.u64;
    events[i] = ready[i].events;
  }
  return count;
}

// A counter that ends a wait when it is raised.
static inline int event_wake_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static inline void event_wake_raise(int wake) {
  uint64_t one = 1;
  ssize_t ignored = write(wake, &one, sizeof one);
  (void)ignored;
}

static inline void event_wake_lower(int wake) {
  uint64_t count;
  ssize_t ignored = read(wake, &count, sizeof count);
  (void)ignored;
}

static inline uint64_t event_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// A descriptor that is readable from a time on; 0 for none, a time that has passed for at once.
static inline int event_timer_create(void) {
  return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}

static inline void event_timer_set(int timer, uint64_t nanoseconds) {
  struct itimerspec time = {
      .it_value = {.tv_sec = (time_t)(nanoseconds / 1000000000u),
                   .tv_nsec = (long)(nanoseconds % 1000000000u)}};
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &time, NULL);
}

// A pipe that no program inherits, reading end first; -1 with errno set when there is none.
int event_pipe(int *ends);

// Gives the system back what is allocated and not in use, and the pages of programs and libraries that are as in their
// files: those that are touched again are found in its cache.
void event_release_memory(void);

// Between them something that a lock protects is touched: for ThreadSanitizer, which does not see the locks of Swift's
// library. Nothing otherwise.
void event_lock_taken(int number);
void event_lock_left(int number);

// A non-blocking, close-on-exec connection from a listening socket, or -1 with errno set.
static inline int event_accept(int listener, struct sockaddr *address, socklen_t *length) {
  return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
