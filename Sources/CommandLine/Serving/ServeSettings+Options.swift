extension ServeSettings {
  private typealias Option = CommandSpecification.Option

  static let sections: [CommandSpecification.Section] = [
    CommandSpecification.Section(
      "Where to serve",
      [
        Option("listen", "ADDRESS", default: "127.0.0.1:8080", "HOST:PORT or unix:PATH"),
        Option(
          "tls-certificate", "FILE", "certificate chain in PEM; serves HTTPS with --tls-key"),
        Option("tls-key", "FILE", "private key in PEM, not readable by everybody"),
        Option(
          "allow-origin", "LIST",
          "web pages that may use the API from browsers, as https://app.example,..."),
        Option(
          "public-url", "URL",
          "where people reach this, as https://example.org: what links in notifications, mails and "
            + "shared texts begin with"),
        Option(
          "graphiql", "on|off|DIR", default: "on",
          "the in-browser IDE at /, from where setup installed it or from a folder"),
        Option(
          "explain-in-page", nil,
          "show people in that page the plans of their queries; these tell how many rows there are "
            + "that they may not see"),
      ]),
    CommandSpecification.Section(
      "Graph and database",
      [
        SettingOptions.database, SettingOptions.data, SettingOptions.programs,
        SettingOptions.schema, SettingOptions.sql,
        SettingOptions.namespace,
        Option(
          "writer-database", "URL",
          "the same database for mutations, under a role that may call functions (--database)"),
        Option(
          "pooler", "off|transaction", default: "off",
          "whether --database leads through a pooler such as PgBouncer, which then has to be in "
            + "transaction mode"),
        Option(
          "direct-database", "URL",
          "the same database without the pooler, for what needs a session: the start, migrations, "
            + "background tasks, the outbox, subscriptions"),
        Option("statement-timeout", "TIME", default: "5s", "longest statement"),
        Option(
          "queue-timeout", "TIME", default: "1s", "longest wait for a database connection"),
        Option(
          "mutation-timeout", "TIME", default: "8s",
          "longest field of a mutation, waiting for a connection included"),
        Option(
          "operation-timeout", "TIME", default: "10s",
          "longest operation, waiting for a connection included"),
      ]),
    CommandSpecification.Section(
      "Accounts",
      [
        Option(
          "identity-providers", "FILE",
          "providers to sign in with: issuer, audience and key set of each, in JSON"),
        Option(
          "jwt-keys", "FILE",
          "issuers of bearer tokens that are taken beside sessions: issuer, audience and key set of "
            + "each, in JSON"),
        Option(
          "sealing-key", "FILE",
          "32 bytes in hexadecimal that tokens of linked accounts are sealed with"),
        Option(
          "outbox", "COMMAND",
          "hands mails, messages and wall posts to this, as sociograph outbox does"),
        Option(
          "outbox-workers", "N", default: "2", "how many of them are handed over at a time"),
        Option(
          "outbox-timeout", "TIME", default: "60s", "longest time for one of them"),
        Option(
          "common-passwords", "FILE",
          "passwords that are refused, one a line, as setup installed it"
        ),
      ]),
    CommandSpecification.Section(
      "Photos",
      [
        SettingOptions.photos,
        Option("maximum-photo-bytes", "N", default: "10485760", "bytes of a photo as it is sent"),
        Option("maximum-photo-pixels", "N", default: "40000000", "width times height of one"),
        Option(
          "photo-moderation", "COMMAND",
          "given each new photo, for the shell; prints APPROVED, PENDING or REJECTED"),
      ]),
    CommandSpecification.Section(
      "GraphQL",
      [
        Option(
          "http-profile", "PROFILE", default: "audit",
          "status codes: audit, of the graphql-http suite, or draft, of the 2026 draft"),
        Option(
          "introspection", "WHO", default: "all",
          "who may read the schema, its text at /schema.graphql too: all, signed-in or off"),
        Option(
          "suggestions", "on|off", default: "on",
          "\"Did you mean\" in error messages; never where not all may read the schema"),
        Option(
          "trusted-documents", "FILE", "manifest of published documents, in JSON"),
        Option(
          "trusted-level", "LEVEL", default: "off",
          "off, log (report others), allow-list (refuse others) or id-only"),
        Option(
          "persisted-queries", "on|off", default: "on", "automatic persisted queries"),
        Option(
          "maximum-batch", "N", default: "0", "requests in one body's list; 0 allows no list"),
        Option("maximum-document-bytes", "N", default: "65536", "bytes of a document"),
        Option("maximum-variables-bytes", "N", default: "262144", "bytes of its variables"),
        Option("maximum-tokens", "N", default: "2000", "tokens of a document"),
        Option("maximum-depth", "N", default: "12", "fields within fields"),
        Option("maximum-aliases", "N", default: "30", "aliases of a document"),
        Option("maximum-root-fields", "N", default: "20", "root fields of a query"),
        Option(
          "maximum-selections", "N", default: "5000", "selections with fragments written out"),
        Option(
          "maximum-page-size", "N", default: "100", "elements that first or last may ask for"),
        Option(
          "maximum-elements", "N", default: "10000",
          "elements of all lists and pages of an answer, as the page sizes multiply"),
        Option(
          "maximum-count", "N", default: "10000",
          "where totalCount stops, unless a count is kept beforehand; 0 for no limit"),
        Option(
          "maximum-response-bytes", "N", default: "8388608",
          "bytes of an answer, of its names as often as they can come, and of what it is made from"),
        Option(
          "maximum-cost", "N", default: "10000",
          "cost of an operation: 1 an object, 2 a page, 1 and its own for each element; 0 for any"),
        Option(
          "rate-limit", "N/N|off", default: "2000/100",
          "cost that a viewer may spend at once, and that comes back each second; not counted of "
            + "requests from this machine, but by --trusted-proxies"),
        Option(
          "rate-limit-address", "N/N|off", default: "500/25",
          "the same of an address from which nobody is signed in (IPv6: one /64)"),
        Option(
          "maximum-cached-documents", "N", default: "1000", "documents each loop keeps prepared"),
      ]),
    CommandSpecification.Section(
      "HTTP",
      [
        Option("maximum-body-bytes", "N", default: "1048576", "bytes of a request's body"),
        Option("maximum-header-bytes", "N", default: "16384", "bytes of a request's header"),
        Option("maximum-sockets", "N", default: "10000", "clients' connections"),
        Option(
          "maximum-sockets-per-address", "N", default: "200",
          "the same from one address (IPv6: one /64)"),
        Option(
          "maximum-held-bytes", "N",
          shown: "a quarter of the memory limit, 16777216 to 268435456",
          "bytes of all answers that wait for clients to read them; beyond it large ones are 503"),
        Option(
          "trusted-proxies", "LIST",
          "reverse proxies in front, as 10.0.0.1,10.1.0.0/16: connections from them are not "
            + "limited by address"),
        Option("idle-timeout", "TIME", default: "60s", "between requests of a connection"),
        Option("header-timeout", "TIME", default: "10s", "for a request's header"),
        Option("body-timeout", "TIME", default: "10s", "for a request's body"),
      ]),
    CommandSpecification.Section(
      "Process",
      [
        Option("user", "NAME", "whom to go on as when started as root, once it listens"),
        Option("loops", "N", shown: "one for each core", "event loops"),
        Option("pool-size", "N", default: "3", "database connections of each loop"),
        Option(
          "writers", "N", default: "8",
          "connections for mutations, one at a time on each, at least one for each loop"),
        Option(
          "tasks", "on|off", default: "on",
          "run the database's background tasks, shared with its other servers"),
        Option(
          "shutdown-delay", "TIME", shown: "5s; none with the embedded database",
          "how long to serve on after SIGTERM, /ready saying no and sockets ending in turn, before finishing"
        ),
      ]),
    CommandSpecification.Section(
      "What is seen of it",
      [
        Option("log-format", "FORMAT", default: "text", "text or json, on standard error"),
        Option(
          "log-file", "FILE", shown: "standard error",
          "file that the log is written to, opened again at SIGHUP"),
        Option(
          "access-log", "off|errors|all|N%", default: "off",
          "which answers have a line in the log; N% are all errors and so many of the others"),
        Option(
          "slow-operation", "TIME", default: "500ms",
          "operations that take as long have a line that says where their time went; off for none"),
        Option(
          "admin-listen", "ADDRESS",
          "HOST:PORT or unix:PATH for /metrics, /live and /ready, not to be reached by clients"),
        Option(
          "otlp-endpoint", "URL",
          "collector that takes traces by OTLP over HTTP, as http://127.0.0.1:4318"),
        Option(
          "trace-sample", "RATIO", default: "0.01",
          "part of the traces that begin here which are sent; others are if their caller's are"),
      ]),
  ]
}
