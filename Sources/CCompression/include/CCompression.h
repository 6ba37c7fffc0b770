// gzip (zlib), brotli and zstd behind one door: bytes go in, coded bytes of one content come out, with padding that
// decoders skip.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
  // RFC 1952, RFC 7932 and RFC 8878.
  CONTENT_CODING_GZIP,
  CONTENT_CODING_BROTLI,
  CONTENT_CODING_ZSTD
};

enum {
  // For one answer at a time: quick, and used again for the next.
  CONTENT_EFFORT_ANSWER,
  // For a stream that lasts: small windows, because thousands of streams may be open.
  CONTENT_EFFORT_STREAM,
  // For a file that is compressed once.
  CONTENT_EFFORT_FILE
};

typedef struct content_encoder content_encoder;

// Returns NULL if there is no memory.
content_encoder *content_encoder_make(int coding, int effort);
void content_encoder_free(content_encoder *encoder);

// Begins another content. Returns 0, or -1 on failure.
int content_encoder_begin(content_encoder *encoder);

// The most that `content_encoder_add` writes for so many bytes.
size_t content_encoder_bound(size_t length);

// The least padding besides 0, and the most.
enum { CONTENT_LEAST_PADDING = 20, CONTENT_MOST_PADDING = 255 };

// Compresses bytes, after `padding` bytes that a decoder skips, and flushes or, if they are the last, ends the content.
// Returns how many bytes were written, or -1 on failure.
//
// `output` has room for `content_encoder_bound(length)` bytes. `padding` is 0 or between the limits above.
ptrdiff_t content_encoder_add(content_encoder *encoder, const uint8_t *bytes, size_t length,
                              int is_last, size_t padding, uint8_t *output);
