#include "CCompression.h"

#include <brotli/encode.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

struct content_encoder {
  int coding;
  int effort;
  int has_begun;
  z_stream deflate;
  uint32_t checksum;
  uint32_t length;
  BrotliEncoderState *brotli;
  ZSTD_CCtx *zstd;
};

size_t content_encoder_bound(size_t length) {
  // zlib with small windows needs most: an eighth, and a 64th. The rest is for heads, ends, flushes and padding.
  return length + length / 4 + 1024;
}

// MARK: gzip

// Raw deflate: the head and the end of gzip are written here, so that padding has its place between them.
static int make_gzip(content_encoder *encoder) {
  int level = encoder->effort == CONTENT_EFFORT_FILE ? 9 : 1;
  int is_small = encoder->effort == CONTENT_EFFORT_STREAM;
  return deflateInit2(&encoder->deflate, level, Z_DEFLATED, is_small ? -12 : -15, is_small ? 5 : 8,
                      Z_DEFAULT_STRATEGY) == Z_OK;
}

// Empty blocks, which end at a byte: a stored one has 5 bytes, and 6 with one of fixed codes before it (RFC 1951, 3.2).
static size_t pad_deflate(uint8_t *output, size_t padding) {
  static const uint8_t blocks[] = {0x02, 0x00, 0x00, 0x00, 0xFF, 0xFF};
  size_t count = padding / 5, longer = padding % 5;
  uint8_t *end = output;
  for (size_t index = 0; index < count; index++) {
    if (index < longer) {
      memcpy(end, blocks, 6);
      end += 6;
    } else {
      *end++ = 0x00;
      memcpy(end, blocks + 2, 4);
      end += 4;
    }
  }
  return (size_t)(end - output);
}

static void put_little_endian(uint8_t *output, uint32_t number) {
  for (int index = 0; index < 4; index++) output[index] = (uint8_t)(number >> 8 * index);
}

static ptrdiff_t add_gzip(content_encoder *encoder, const uint8_t *bytes, size_t length, int is_last,
                          size_t padding, uint8_t *output, size_t capacity) {
  static const uint8_t head[] = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255};
  uint8_t *end = output;
  if (!encoder->has_begun) {
    memcpy(end, head, sizeof head);
    end += sizeof head;
  }
  end += pad_deflate(end, padding);
  if (length > UINT_MAX || capacity > UINT_MAX) return -1;
  z_stream *stream = &encoder->deflate;
  stream->next_in = (uint8_t *)bytes;
  stream->avail_in = (uInt)length;
  stream->next_out = end;
  stream->avail_out = (uInt)(capacity - (size_t)(end - output));
  int result = deflate(stream, is_last ? Z_FINISH : Z_SYNC_FLUSH);
  // Nothing to flush is no failure.
  if (is_last ? result != Z_STREAM_END : result != Z_OK && result != Z_BUF_ERROR) return -1;
  if (stream->avail_in != 0 || stream->avail_out < 8) return -1;
  end = stream->next_out;
  // zlib takes no bytes at all for the beginning.
  if (length > 0) encoder->checksum = (uint32_t)crc32(encoder->checksum, bytes, (uInt)length);
  encoder->length += (uint32_t)length;
  if (is_last) {
    put_little_endian(end, encoder->checksum);
    put_little_endian(end + 4, encoder->length);
    end += 8;
  }
  return end - output;
}

// MARK: brotli

static int begin_brotli(content_encoder *encoder) {
  BrotliEncoderDestroyInstance(encoder->brotli);
  BrotliEncoderState *state = encoder->brotli = BrotliEncoderCreateInstance(NULL, NULL, NULL);
  if (!state) return 0;
  // A quality of 1 would forget one part of a stream before the next.
  static const uint32_t quality[] = {1, 2, 9}, window[] = {18, 14, 20};
  return BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, quality[encoder->effort]) &&
         BrotliEncoderSetParameter(state, BROTLI_PARAM_LGWIN, window[encoder->effort]);
}

static int run_brotli(BrotliEncoderState *state, BrotliEncoderOperation operation,
                      const uint8_t *bytes, size_t length, uint8_t **output, size_t *room) {
  do {
    if (!BrotliEncoderCompressStream(state, operation, &length, &bytes, room, output, NULL))
      return 0;
    if (*room == 0) return 0;
  } while (length > 0 || BrotliEncoderHasMoreOutput(state));
  return 1;
}

static ptrdiff_t add_brotli(content_encoder *encoder, const uint8_t *bytes, size_t length,
                            int is_last, size_t padding, uint8_t *output, size_t capacity) {
  static const uint8_t zeros[CONTENT_MOST_PADDING];
  uint8_t *end = output;
  // A metadata block has a head of three bytes or four.
  if (padding > 0 && !run_brotli(encoder->brotli, BROTLI_OPERATION_EMIT_METADATA, zeros,
                                 padding, &end, &capacity))
    return -1;
  BrotliEncoderOperation operation = is_last ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_FLUSH;
  if (!run_brotli(encoder->brotli, operation, bytes, length, &end, &capacity)) return -1;
  return end - output;
}

// MARK: zstd

static int make_zstd(content_encoder *encoder) {
  ZSTD_CCtx *context = encoder->zstd = ZSTD_createCCtx();
  if (!context) return 0;
  size_t result = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel,
                                         encoder->effort == CONTENT_EFFORT_FILE ? 15 : 1);
  if (encoder->effort == CONTENT_EFFORT_STREAM && !ZSTD_isError(result)) {
    result = ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 14);
    if (!ZSTD_isError(result)) result = ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, 12);
  }
  return !ZSTD_isError(result);
}

// The size of a frame's head (RFC 8878, 3.1.1.1), which begins with the magic number.
static size_t zstd_head_size(const uint8_t *frame) {
  static const size_t dictionary[] = {0, 1, 2, 4}, content[] = {0, 2, 4, 8};
  uint8_t descriptor = frame[4];
  int is_single = descriptor >> 5 & 1;
  size_t size = 5 + !is_single + dictionary[descriptor & 3] + content[descriptor >> 6];
  return size + (is_single && descriptor >> 6 == 0);
}

// Empty blocks: a raw one has 3 bytes, and one of no repetitions 4 (RFC 8878, 3.1.1.2).
static void pad_zstd(uint8_t *output, size_t padding) {
  memset(output, 0, padding);
  size_t longer = padding % 3;
  for (size_t index = 0; index < longer; index++) output[4 * index] = 0x02;
}

static ptrdiff_t add_zstd(content_encoder *encoder, const uint8_t *bytes, size_t length, int is_last,
                          size_t padding, uint8_t *output, size_t capacity) {
  ZSTD_inBuffer in = {bytes, length, 0};
  ZSTD_outBuffer out = {output + padding, capacity - padding, 0};
  size_t left = ZSTD_compressStream2(encoder->zstd, &out, &in, is_last ? ZSTD_e_end : ZSTD_e_flush);
  if (ZSTD_isError(left) || left != 0 || in.pos != length) return -1;
  size_t head = 0;
  if (!encoder->has_begun && padding > 0) {
    if (out.pos < 18 && out.pos < zstd_head_size(output + padding)) return -1;
    head = zstd_head_size(output + padding);
    memmove(output, output + padding, head);
  }
  pad_zstd(output + head, padding);
  return (ptrdiff_t)(padding + out.pos);
}

// MARK: All

content_encoder *content_encoder_make(int coding, int effort) {
  content_encoder *encoder = calloc(1, sizeof *encoder);
  if (!encoder) return NULL;
  encoder->coding = coding;
  encoder->effort = effort;
  int is_made = 1;
  switch (coding) {
    case CONTENT_CODING_GZIP: is_made = make_gzip(encoder); break;
    case CONTENT_CODING_ZSTD: is_made = make_zstd(encoder); break;
    default: break;
  }
  if (is_made && content_encoder_begin(encoder) == 0) return encoder;
  content_encoder_free(encoder);
  return NULL;
}

void content_encoder_free(content_encoder *encoder) {
  if (!encoder) return;
  if (encoder->coding == CONTENT_CODING_GZIP) deflateEnd(&encoder->deflate);
  BrotliEncoderDestroyInstance(encoder->brotli);
  ZSTD_freeCCtx(encoder->zstd);
  free(encoder);
}

int content_encoder_begin(content_encoder *encoder) {
  encoder->has_begun = 0;
  encoder->checksum = 0;
  encoder->length = 0;
  switch (encoder->coding) {
    case CONTENT_CODING_GZIP: return deflateReset(&encoder->deflate) == Z_OK ? 0 : -1;
    case CONTENT_CODING_BROTLI: return begin_brotli(encoder) ? 0 : -1;
    default: return ZSTD_isError(ZSTD_CCtx_reset(encoder->zstd, ZSTD_reset_session_only)) ? -1 : 0;
  }
}

ptrdiff_t content_encoder_add(content_encoder *encoder, const uint8_t *bytes, size_t length,
                              int is_last, size_t padding, uint8_t *output) {
  if (padding > CONTENT_MOST_PADDING || (padding > 0 && padding < CONTENT_LEAST_PADDING)) return -1;
  size_t capacity = content_encoder_bound(length);
  ptrdiff_t written;
  switch (encoder->coding) {
    case CONTENT_CODING_GZIP:
      written = add_gzip(encoder, bytes, length, is_last, padding, output, capacity);
      break;
    case CONTENT_CODING_BROTLI:
      written = add_brotli(encoder, bytes, length, is_last, padding, output, capacity);
      break;
    default: written = add_zstd(encoder, bytes, length, is_last, padding, output, capacity); break;
  }
  encoder->has_begun = 1;
  return written;
}
