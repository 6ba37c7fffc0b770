// wslay: frames of WebSocket (RFC 6455), without I/O of its own.
#pragma once

#include <sys/types.h>
#include <wslay/wslay.h>
