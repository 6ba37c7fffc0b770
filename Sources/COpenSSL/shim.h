// OpenSSL, and as inline functions those of its macros that Swift cannot see.
#pragma once

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

static inline int mac_init_sha256(EVP_MAC_CTX *context, const unsigned char *key, size_t length) {
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char[]){"SHA256"}, 0),
      OSSL_PARAM_construct_end()};
  return EVP_MAC_init(context, key, length, parameters);
}

static inline int tls_context_require_1_2(SSL_CTX *context) {
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

// Of TLS 1.2 only what has forward secrecy and authenticated encryption; TLS 1.3 has nothing else.
static inline int tls_context_require_forward_secrecy(SSL_CTX *context) {
  return SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
}

// Writes may be partial and may be repeated from another address: the output buffer moves.
static inline void tls_context_set_modes(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
}

// The name that the client expects, in its greeting and in the certificate.
static inline int tls_session_set_host(SSL *session, const char *name) {
  return SSL_set_tlsext_host_name(session, name) == 1 && SSL_set1_host(session, name) == 1;
}
