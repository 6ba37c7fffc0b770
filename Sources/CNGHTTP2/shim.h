// nghttp2: frames, header compression and flow control of HTTP/2 (RFC 9113), without I/O of its own.
#pragma once

#include <sys/types.h>
#include <nghttp2/nghttp2.h>
