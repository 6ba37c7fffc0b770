// What Swift cannot see of the C library (epoll's constants, eventfd, accept4) as inline wrappers.
#pragma once

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
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

// Fills tokens and events with what is ready now, without waiting; returns how many.
static inline int event_poll_ready(int poll, uint64_t *tokens, uint32_t *events, int capacity) {
  struct epoll_event ready[256];
  int count = epoll_wait(poll, ready, capacity < 256 ? capacity : 256, 0);
  for (int i = 0; i < count; i++) {
    tokens[i] = ready[i].data.u64;
    events[i] = ready[i].events;
  }
  return count;
}

// A non-blocking, close-on-exec connection from a listening socket, or -1 with errno set.
static inline int event_accept(int listener, struct sockaddr *address, socklen_t *length) {
  return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
