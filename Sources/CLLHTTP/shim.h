// llhttp parses one complete head of a request or a response here; what it found comes back as offsets, so that no
// callback crosses into Swift and no state outlives the call.
#pragma once

#include <llhttp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// glibc declares it for _GNU_SOURCE only, which would change other headers under Swift's importer.
extern void *memmem(const void *, size_t, const void *, size_t);

// The number of the method QUERY (RFC 10008) in llhttp 9. That of Debian 12 does not know it.
enum { LLHTTP_QUERY = 46 };

typedef struct {
  uint32_t name, name_length;
  uint32_t value, value_length;
} llhttp_field_span;

typedef struct {
  uint32_t target, target_length;
  uint32_t field_count;
  uint8_t method;
  uint8_t minor_version;
  uint8_t keeps_alive;
  uint8_t wants_upgrade;
  uint8_t is_chunked;
  uint8_t has_content_length;
  uint64_t content_length;
} llhttp_request_head;

typedef struct {
  const char *base;
  llhttp_field_span *fields;
  uint32_t capacity;
  int too_many;
  int is_complete;
  llhttp_request_head *head;
  uint16_t status;
} llhttp_head_parse;

static inline int llhttp_head_on_target(llhttp_t *parser, const char *at, size_t length) {
  llhttp_head_parse *parse = parser->data;
  parse->head->target = (uint32_t)(at - parse->base);
  parse->head->target_length = (uint32_t)length;
  return 0;
}

static inline int llhttp_head_on_name(llhttp_t *parser, const char *at, size_t length) {
  llhttp_head_parse *parse = parser->data;
  if (parse->head->field_count == parse->capacity) {
    parse->too_many = 1;
    return HPE_USER;
  }
  llhttp_field_span *field = &parse->fields[parse->head->field_count++];
  field->name = (uint32_t)(at - parse->base);
  field->name_length = (uint32_t)length;
  field->value = field->name + field->name_length;
  field->value_length = 0;
  return 0;
}

static inline int llhttp_head_on_value(llhttp_t *parser, const char *at, size_t length) {
  llhttp_head_parse *parse = parser->data;
  if (parse->head->field_count == 0) return HPE_USER;
  llhttp_field_span *field = &parse->fields[parse->head->field_count - 1];
  field->value = (uint32_t)(at - parse->base);
  field->value_length = (uint32_t)length;
  return 0;
}

static inline int llhttp_head_on_complete(llhttp_t *parser) {
  llhttp_head_parse *parse = parser->data;
  llhttp_request_head *head = parse->head;
  head->method = parser->method;
  parse->status = parser->status_code;
  head->minor_version = parser->http_minor;
  head->keeps_alive = (uint8_t)llhttp_should_keep_alive(parser);
  head->wants_upgrade = parser->upgrade;
  head->is_chunked = (parser->flags & F_CHUNKED) != 0;
  head->has_content_length = (parser->flags & F_CONTENT_LENGTH) != 0;
  head->content_length = parser->content_length;
  parse->is_complete = 1;
  return HPE_PAUSED;
}

// Parses `length` bytes that end with the empty line of a head. 0 when they are one, -1 when there
// are more fields than `capacity`, else llhttp's error number. `status` is that of a response.
static inline int llhttp_parse_head(llhttp_type_t type, const uint8_t *bytes, size_t length,
                                    llhttp_field_span *fields, uint32_t capacity,
                                    llhttp_request_head *head, uint16_t *status) {
  static const llhttp_settings_t settings = {
      .on_url = llhttp_head_on_target,
      .on_header_field = llhttp_head_on_name,
      .on_header_value = llhttp_head_on_value,
      .on_headers_complete = llhttp_head_on_complete,
  };
  memset(head, 0, sizeof *head);
  llhttp_head_parse parse = {.base = (const char *)bytes,
                             .fields = fields,
                             .capacity = capacity,
                             .too_many = 0,
                             .is_complete = 0,
                             .head = head};
  llhttp_t parser;
  llhttp_init(&parser, type, &settings);
  parser.data = &parse;
  llhttp_errno_t error = HPE_OK;
  size_t start = 0;
  // It is read as a POST, which is framed alike.
  int is_query = type == HTTP_REQUEST && length > 6 && memcmp(bytes, "QUERY ", 6) == 0;
  if (is_query) {
    error = llhttp_execute(&parser, "POST ", 5);
    start = 6;
  }
  if (error == HPE_OK) {
    error = llhttp_execute(&parser, (const char *)bytes + start, length - start);
  }
  *status = parse.status;
  if (parse.is_complete && error == HPE_PAUSED) {
    if (is_query) head->method = LLHTTP_QUERY;
    return 0;
  }
  if (parse.too_many) return -1;
  return error == HPE_OK ? HPE_USER : error;
}

static inline int llhttp_parse_request_head(const uint8_t *bytes, size_t length,
                                            llhttp_field_span *fields, uint32_t capacity,
                                            llhttp_request_head *head) {
  uint16_t none;
  return llhttp_parse_head(HTTP_REQUEST, bytes, length, fields, capacity, head, &none);
}

static inline int llhttp_parse_response_head(const uint8_t *bytes, size_t length,
                                             llhttp_field_span *fields, uint32_t capacity,
                                             llhttp_request_head *head, uint16_t *status) {
  return llhttp_parse_head(HTTP_RESPONSE, bytes, length, fields, capacity, head, status);
}
