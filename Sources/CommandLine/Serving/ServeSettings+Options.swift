import Server

extension ServeSettings {
  private typealias Option = CommandSpecification.Option

  static let sections: [CommandSpecification.Section] = [
    CommandSpecification.Section(
      "Addresses",
      [
        Option(
          "listen", "ADDRESS", default: "127.0.0.1:8080",
          "the address to listen on: HOST:PORT or unix:PATH"),
        Option(
          "tls-certificate", "FILE",
          "the certificate chain in PEM; serves HTTPS, together with --tls-key"),
        Option(
          "tls-key", "FILE",
          "the private key in PEM; other users must not be able to read the file"),
        Option(
          "allow-origin", "LIST",
          "the web origins that may use the API from browsers, such as https://app.example,..."),
        PublicURL.option,
        Option(
          "graphiql", "on|off|DIR", default: "on",
          "GraphiQL at /, from where script/setup installed it or from a folder"),
        Option(
          "docs", "DIR",
          "pages to serve at /docs to everybody, as sociograph schema docs writes them"),
        Option(
          "explain-in-page", nil, shown: "on over demo data",
          "show plans of queries in GraphiQL; plans disclose how many rows exist that the "
            + "viewer may not see"),
        Option(
          "server-timing", "WHO", default: "off", choices: ["off", "signed-in", "all"],
          "whom to tell the time of each phase of their requests, if they ask as sociograph load "
            + "does: off, signed-in or all"),
      ]),
    CommandSpecification.Section(
      "Graph and database",
      [
        SettingOptions.database, SettingOptions.data, SettingOptions.programs,
        SettingOptions.schema, SettingOptions.sql,
        SettingOptions.namespace,
        Option(
          "writer-database", "URL",
          "the same database as --database, under a role that may call functions, for mutations"),
        Option(
          "pooler", "off|transaction", default: "off",
          "whether --database leads to a pooler such as PgBouncer, in transaction mode"),
        Option(
          "direct-database", "URL",
          "the same database without the pooler, for what needs a session: the start, "
            + "migrations, background tasks, the outbox, subscriptions"),
        Option(
          "replica-database", "URL",
          "standbys of the same database for queries, several hosts with commas; each client's "
            + "queries contain what it wrote"),
        Option(
          "replica-lag", "TIME", default: "5s",
          "the maximum lag of a standby that takes queries"),
        Option(
          "live", "HOW", default: "reported", choices: ["reported", "decoding"],
          "where live queries get changes from: reported, the tables that report them, or decoding, "
            + "PostgreSQL's log, for any table"),
        Option(
          "live-database", "URL", shown: "that of --database",
          "with --live decoding: the same database, without a pooler and under a role with "
            + "REPLICATION"),
        Option(
          "cursor-key", "FILE", shown: "that of the database, if it was migrated",
          "at least 32 random bytes with which cursors are signed, the same for all servers over one "
            + "database"),
        Option(
          "answer-cache", "BYTES", default: "0",
          "the size of responses that are kept, and sent again without asking the database while "
            + "nothing that they depend on has changed; 0 keeps none"),
        Option("statement-timeout", "TIME", default: "5s", "the maximum duration of a statement"),
        Option(
          "queue-timeout", "TIME", default: "1s", "the maximum wait for a database connection"),
        Option(
          "mutation-timeout", "TIME", default: "8s",
          "the maximum duration of a mutation's field, including the wait for a connection"),
        Option(
          "operation-timeout", "TIME", default: "10s",
          "the maximum duration of an operation, including the wait for a connection"),
      ]),
    CommandSpecification.Section(
      "Accounts",
      [
        Option(
          "identity-providers", "FILE",
          "the OpenID Connect providers to sign in with: issuer, audience and key set of "
            + "each, in JSON"),
        Option(
          "jwt-keys", "FILE",
          "the issuers of bearer tokens to accept in addition to sessions: issuer, audience "
            + "and key set of each, in JSON"),
        Option(
          "roles", "WHOSE", default: "server", choices: ["server", "claims"],
          "the role of PostgreSQL under which a client's statements run: that of the server, or with claims "
            + "the one that the claim role of its token names, so that policies of row level security decide"
        ),
        Option(
          "anonymous-role", "ROLE",
          "with --roles claims: the role of requests without a token or without the claim"),
        Option(
          "sealing-key", "FILE",
          "the key that encrypts tokens of linked accounts: 32 bytes in hexadecimal"),
        Option(
          "outbox", "COMMAND",
          "the command that delivers mails, messages and wall posts, as sociograph outbox "
            + "runs it"),
        Option(
          "outbox-workers", "N", default: "2", "how many deliveries run at a time"),
        Option(
          "outbox-timeout", "TIME", default: "60s", "the maximum duration of one delivery"),
        Option(
          "common-passwords", "FILE",
          "passwords to refuse, one a line, as script/setup installed them"),
      ]),
    CommandSpecification.Section(
      "Photos",
      [
        SettingOptions.photos,
        Option(
          "maximum-photo-bytes", "N", default: "20971520",
          "the maximum size of an uploaded image, in bytes"),
        Option(
          "maximum-photo-pixels", "N", default: "50000000",
          "the maximum width times height of an uploaded image"),
        Option(
          "photo-moderation", "COMMAND",
          "a shell command that gets each new photo and prints APPROVED, PENDING or REJECTED"),
      ]),
    CommandSpecification.Section(
      "GraphQL",
      [
        Option(
          "http-profile", "PROFILE", default: "2026", choices: ["2026", "auto", "audit"],
          "the status codes: 2026, of the edition of September 2026; audit, of the graphql-http suite; "
            + "or auto: 2026 for clients that accept application/graphql-response+json, audit for others"
        ),
        Option(
          "compression", "on|off", default: "on",
          "compress responses from 1 KiB on with zstd, brotli or gzip, if the client accepts it"),
        Option(
          "http2", "on|off", default: "on",
          "let clients speak HTTP/2: over TLS those that offer it, else those that begin with it"),
        Option(
          "introspection", "WHO", default: "all", choices: ["all", "signed-in", "off"],
          "who may read the schema, also at /schema.graphql: all, signed-in or off"),
        Option(
          "suggestions", "on|off", default: "on",
          "\"Did you mean\" in error messages; always off if some clients may not read the "
            + "schema"),
        Option(
          "raised-messages", "on|off", default: "on",
          "tell clients what functions and triggers of the database say when they refuse a "
            + "mutation (RAISE EXCEPTION)"),
        Option(
          "trusted-documents", "FILE", "the manifest of published documents, in JSON"),
        Option(
          "trusted-level", "LEVEL", default: "off",
          choices: ["off", "log", "allow-list", "id-only"],
          "off, log (log other documents), allow-list (refuse other documents) or id-only"),
        Option(
          "mcp", nil,
          "serve the operations of --trusted-documents to agents at /mcp, as tools of the Model Context Protocol"
        ),
        Option(
          "subgraph", nil,
          "serve a gateway of Apollo Federation: _service has the schema, _entities objects by their keys"
        ),
        Option(
          "persisted-queries", "on|off", default: "on", "automatic persisted queries"),
        Option(
          "maximum-batch", "N", default: "0",
          "the maximum number of requests in one body; 0 refuses lists"),
        Option(
          "maximum-variable-sets", "N", default: "100",
          "the maximum number of objects in a list of variables, and of representations in a field; 0 "
            + "refuses lists of variables"),
        Option(
          "maximum-document-bytes", "N", default: "65536",
          "the maximum size of a document, in bytes"),
        Option(
          "maximum-variables-bytes", "N", default: "262144",
          "the maximum size of the variables, in bytes"),
        Option(
          "maximum-tokens", "N", default: "2000",
          "the maximum number of tokens of a document"),
        Option("maximum-depth", "N", default: "20", "the maximum depth of nested fields"),
        Option(
          "maximum-aliases", "N", default: "30",
          "the maximum number of aliases of a document"),
        Option(
          "maximum-root-fields", "N", default: "20",
          "the maximum number of root fields of an operation"),
        Option(
          "maximum-selections", "N", default: "5000",
          "the maximum number of selections, with fragments expanded"),
        Option(
          "maximum-page-size", "N", default: "100", "the maximum value of first and last"),
        Option(
          "maximum-elements", "N", default: "10000",
          "the maximum number of elements of all lists and pages of a response, as page "
            + "sizes multiply"),
        Option(
          "maximum-count", "N", default: "10000",
          "the value at which totalCount stops, unless the count is stored; 0 for no limit"),
        Option(
          "maximum-response-bytes", "N", default: "8388608",
          "the maximum size of a response, of its names in the worst case, and of the row "
            + "that it is made from"),
        Option(
          "maximum-cost", "N", default: "10000",
          "the maximum cost of an operation: 1 an object, 2 a page, and 1 and its own cost "
            + "for each element; 0 for no limit"),
        Option(
          "rate-limit", "N/N|off", default: "\(RateLimiter.Rate.standardViewer)",
          "the rate-limit points of a viewer, and their refill a second; requests from this "
            + "machine count only if --trusted-proxies send them"),
        Option(
          "rate-limit-address", "N/N|off", default: "\(RateLimiter.Rate.standardAddress)",
          "the rate-limit points of an address (IPv6: one /64) for anonymous requests, and "
            + "their refill a second"),
        Option(
          "maximum-cached-documents", "N", default: "1000",
          "the maximum number of documents, with their plans, that each event loop caches"),
      ]),
    CommandSpecification.Section(
      "HTTP",
      [
        Option(
          "maximum-body-bytes", "N", default: "1048576",
          "the maximum size of a request body, in bytes"),
        Option(
          "maximum-header-bytes", "N", default: "16384",
          "the maximum size of a request header, in bytes"),
        Option(
          "maximum-connections", "N", former: "maximum-sockets", default: "10000",
          "the maximum number of connections"),
        Option(
          "maximum-connections-per-address", "N", former: "maximum-sockets-per-address",
          default: "200", "the maximum number of connections from one address (IPv6: one /64)"),
        Option(
          "maximum-buffered-bytes", "N", former: "maximum-held-bytes",
          shown: "a quarter of the memory limit, 16777216 to 268435456",
          "the maximum size of all responses that clients have not read yet; beyond it, "
            + "large responses are 503"),
        Option(
          "trusted-proxies", "LIST",
          "the reverse proxies in front of the server, such as 10.0.0.1,10.1.0.0/16; their "
            + "connections have no limit by address"),
        Option(
          "proxy-protocol", nil,
          "with --trusted-proxies: their connections begin with the client's address (PROXY protocol, "
            + "versions 1 and 2)"),
        Option(
          "idle-timeout", "TIME", default: "60s",
          "the maximum time between two requests of a connection"),
        Option("header-timeout", "TIME", default: "10s", "the maximum time for a request header"),
        Option("body-timeout", "TIME", default: "10s", "the maximum time for a request body"),
      ]),
    CommandSpecification.Section(
      "Process",
      [
        Option(
          "user", "NAME",
          "the user to continue as, if started as root, once the server listens"),
        Option("loops", "N", shown: "one for each core", "the number of event loops"),
        Option(
          "pool-size", "N", default: "3",
          "the number of database connections that each event loop opens at its start"),
        Option(
          "writers", "N", default: "8",
          "the number of connections for mutations, which run one at a time on each; at "
            + "least one for each event loop"),
        Option(
          "tasks", "on|off", default: "on",
          "whether to run the database's background tasks, in turn with its other servers"),
        Option(
          "watch", nil,
          "serve a changed schema without a restart: look each second at the files of --schema and at "
            + "the database, and bring its changes into a drafted schema"),
        Option(
          "shutdown-delay", "TIME", shown: "5s; none with the embedded database",
          "how long to serve after SIGTERM, while /ready fails and sockets are closed in turn"),
      ]),
    CommandSpecification.Section(
      "Observability",
      [
        Option(
          "log-format", "FORMAT", default: "text", choices: ["text", "json"],
          "the format of the log: text or json"),
        Option(
          "log-file", "FILE", shown: "standard error",
          "the file to write the log to; SIGHUP opens it again"),
        Option(
          "access-log", "off|errors|all|N%", default: "off",
          "the responses to log; N% are all errors and this share of the others"),
        Option(
          "slow-operation", "TIME", default: "500ms",
          "logs operations that take at least this long, with the time of each phase; off "
            + "disables it"),
        Option(
          "admin-listen", "ADDRESS",
          "HOST:PORT or unix:PATH for /metrics, /usage, /live and /ready, which clients must not reach"
        ),
        Option(
          "otlp-endpoint", "URL",
          "the collector for traces by OTLP over HTTP, such as http://127.0.0.1:4318"),
        Option(
          "trace-sample", "RATIO", default: "0.01",
          "the fraction of new traces to sample, 0 to 1; a trace begun upstream keeps its "
            + "own sampling decision"),
        Option(
          "opentelemetry-names", "on|off", default: "off",
          "names spans by OpenTelemetry's conventions for HTTP and GraphQL, and adds the metric "
            + "http_server_request_duration_seconds"),
      ]),
  ]
}
