"use strict";
// GraphiQL on this server: queries over HTTP, subscriptions and live queries over a WebSocket, and who is signed in.
(function () {
  const { createElement, useEffect, useState } = React;
  const plugins = GraphiQL.React;

  const root = document.getElementById("graphiql");

  // No line is wider than the editor on a telephone: 30 columns.
  const defaultQuery = `# Ctrl-Space completes,
# Ctrl-Enter runs. To sign in,
# put a session's token into
# the field "Session token".

query Example ${indented(root.dataset.example || "{ __typename }")}
`;

  // An operation without line breaks, with one for each field.
  function indented(text) {
    let depth = 0;
    const line = () => "\n" + "  ".repeat(depth);
    return text.split(/([{}]|\([^)]*\))/).map((part) => {
      if (part === "{") { depth += 1; return "{" + line(); }
      if (part === "}") { depth -= 1; return line() + "}"; }
      if (part.startsWith("(")) return part;
      const words = part.trim().split(/\s+/).filter(Boolean);
      if (words.length === 0) return part && " ";
      return words.join(line()) + (/\s$/.test(part) ? " " : "");
    }).join("").replace(/ +\n/g, "\n");
  }

  // Lives as long as this page, and stands in no storage of the browser.
  const token = shared("");
  const authorization = () => (token.get() ? { authorization: "Bearer " + token.get() } : {});
  // The file that is sent in place of the first variable that is null.
  const file = shared(null);
  // What came of the last stream, and how many of its events are kept.
  const events = shared([]);
  const maximumEvents = 100;

  // What GraphiQL keeps between visits, but for headers: its history has them even when it is told
  // to keep none.
  const storage = {
    get length() { return localStorage.length; },
    getItem: (name) => localStorage.getItem(name),
    removeItem: (name) => localStorage.removeItem(name),
    clear: () => localStorage.clear(),
    setItem(name, text) {
      if (/:headers$/.test(name)) return;
      localStorage.setItem(name, /:(tabState|queries|favorites)$/.test(name) ? bare(text) : text);
    },
  };

  function bare(text) {
    return JSON.stringify(
      JSON.parse(text), (name, value) => (name === "headers" ? undefined : value));
  }

  // MARK: Sending

  const address = new URL("graphql", location.href);
  const socketAddress = new URL(address);
  socketAddress.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const socket = graphqlWs.createClient({
    url: socketAddress.href, connectionParams: authorization,
  });

  // What is answered more than once, until somebody returns.
  function subscribe(request, isLive) {
    const queue = [];
    let wake = () => {};
    const put = (event) => { queue.push(event); wake(); };
    const began = performance.now();
    let count = 0;
    events.set([]);
    function keep(value) {
      const milliseconds = performance.now() - began;
      const last = events.get().at(-1);
      count += 1;
      const before = isLive && last ? last.value : undefined;
      events.set([...events.get().slice(1 - maximumEvents), { number: count, milliseconds, value, before }]);
      tell([`event ${count}`, size(new TextEncoder().encode(JSON.stringify(value)).length)]);
    }
    const stop = socket.subscribe(request, {
      next: (value) => put({ value }),
      error: (error) => put({ error: reason(error) }),
      complete: () => put({ isOver: true }),
    });
    async function* results() {
      for (;;) {
        while (queue.length === 0) await new Promise((resolve) => { wake = resolve; });
        const { value, error, isOver } = queue.shift();
        if (error) throw error;
        if (isOver) return;
        keep(value);
        yield value;
      }
    }
    const abort = new AbortController();
    abort.signal.addEventListener("abort", stop);
    return stoppable(results(), abort);
  }

  function reason(error) {
    if (error instanceof CloseEvent) {
      return new Error(`The socket was closed: ${error.code} ${error.reason}`.trim());
    }
    // A browser does not tell pages why a socket could not be had.
    return error instanceof Event ? new Error("The server cannot be reached by a WebSocket.") : error;
  }

  const plain = "application/graphql-response+json, application/json;q=0.9";
  const inParts = "multipart/mixed;deferSpec=20220824, " +
    "application/graphql-response+json;q=0.9, application/json;q=0.8";

  // Sends JSON to this server as who is signed in.
  function post(place, request, headers, signal) {
    headers = new Headers(headers);
    const form = withFile(request);
    if (!form) headers.set("content-type", "application/json");
    headers.set("prefer", "metrics=cost");
    headers.set("accept", /@(defer|stream)\b/.test(request.query) ? inParts : plain);
    for (const [name, value] of Object.entries(authorization())) {
      if (!headers.has(name)) headers.set(name, value);
    }
    return fetch(place, {
      method: "POST", credentials: "same-origin", headers, signal, body: form || JSON.stringify(request),
    });
  }

  // The multipart form of GraphQL uploads; null without a file and a place for it.
  function withFile(request) {
    // Variables of an operation that was in the editor before may still be there.
    const name = Object.entries(request.variables || {}).find(
      ([name, value]) => value === null && request.query.includes("$" + name))?.[0];
    if (!file.get() || name === undefined) return null;
    const form = new FormData();
    form.set("operations", JSON.stringify(request));
    form.set("map", JSON.stringify({ 0: ["variables." + name] }));
    form.set("0", file.get());
    return form;
  }

  // What is no JSON comes from something between the server and this page.
  async function json(response) {
    const text = await response.text();
    try {
      return JSON.parse(text);
    } catch {
      return { status: response.status, text };
    }
  }

  function fetcher(request, options) {
    const stream = streamOf(request, options);
    if (stream) return subscribe(request, stream.operation !== "subscription");
    const abort = new AbortController();
    const response = post(address, request, options.headers, abort.signal);
    // GraphiQL takes the schema in one piece only.
    return request.operationName === "IntrospectionQuery"
      ? response.then(json) : stoppable(answers(response), abort);
  }

  // The operation, if it is a subscription or a live query.
  function streamOf(request, options) {
    return (options.documentAST?.definitions || []).find((definition) =>
      (definition.operation === "subscription" ||
        definition.directives?.some((directive) => directive.name.value === "live")) &&
      (!request.operationName || definition.name?.value === request.operationName));
  }

  // The answers, until somebody returns; a generator would first wait for the next one.
  function stoppable(answers, abort) {
    return {
      [Symbol.asyncIterator]() { return this; },
      next: () => answers.next().catch((error) => {
        if (abort.signal.aborted) return { done: true, value: undefined };
        throw error;
      }),
      return() {
        abort.abort();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  // The answer; of one that comes in parts, all that is there of it each time.
  async function* answers(response) {
    const began = performance.now();
    tell([]);
    response = await response;
    const type = response.headers.get("content-type") || "";
    const boundary = /^multipart\/mixed\b.*;\s*boundary="?([^";]+)/i.exec(type);
    if (!boundary) {
      const answer = await json(response);
      measure(began, new TextEncoder().encode(JSON.stringify(answer)).length, answer);
      return yield answer;
    }
    const answer = {};
    let bytes = 0;
    for await (const part of parts(response, "\r\n--" + boundary[1])) {
      bytes += new TextEncoder().encode(JSON.stringify(part)).length;
      add(part, answer);
      measure(began, bytes, answer);
      yield answer;
    }
  }

  // What an answer took: until it was here, its bytes of JSON, and its cost.
  function measure(began, bytes, answer) {
    const time = performance.now() - began;
    const cost = answer.extensions?.cost?.actual;
    tell([
      `${time < 10 ? time.toFixed(1) : Math.round(time)} ms`,
      size(bytes),
      ...(cost === undefined ? [] : [`cost ${cost}`]),
    ]);
  }

  const size = (bytes) => (bytes < 1000 ? `${bytes} B` : `${(bytes / 1000).toFixed(1)} kB`);

  function tell(figures) {
    const place = document.querySelector(".answer-figures");
    if (place) place.textContent = figures.join(", ");
  }

  async function* parts(response, delimiter) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "\r\n";
    while (!text.startsWith("--")) {
      const { done, value } = await reader.read();
      if (done) return;
      const found = (text + value).split(delimiter);
      text = found.pop();
      for (const part of found) {
        const head = part.indexOf("\r\n\r\n");
        if (head >= 0) yield JSON.parse(part.slice(head + 4));
      }
    }
  }

  function add(part, answer) {
    for (const member of ["data", "extensions"]) {
      if (member in part) answer[member] = part[member];
    }
    note(part.errors, answer);
    for (const piece of part.incremental || []) {
      note(piece.errors, answer);
      const path = piece.items ? piece.path.slice(0, -1) : piece.path;
      const place = path.reduce((value, name) => value?.[name], answer.data);
      if (!place) continue;
      const first = piece.path.at(-1);
      if (piece.items) piece.items.forEach((item, index) => merge(place, { [first + index]: item }));
      else if (piece.data) merge(place, piece.data);
    }
  }

  function note(errors, answer) {
    if (errors) answer.errors = [...(answer.errors || []), ...errors];
  }

  function merge(target, source) {
    for (const [name, value] of Object.entries(source)) {
      const known = target[name];
      if (known && value && typeof known === "object") merge(known, value);
      else target[name] = value;
    }
  }

  // MARK: Panes

  function SignIn() {
    const schema = plugins.useSchemaContext({ nonNull: true });
    const text = token.use();
    // Not a field for passwords: browsers offer to keep those.
    return createElement("input", {
      className: "session-token", value: text, placeholder: "Session token",
      "aria-label": "Session token", title: "Forgotten when this page is left",
      autoComplete: "off", autoCapitalize: "off", autoCorrect: "off", spellCheck: false,
      onChange: (event) => {
        token.set(event.target.value.trim().replace(/^Bearer\s+/i, ""));
      },
      onBlur: () => { if (!schema.schema) schema.introspect(); },
    });
  }

  // GraphiQL's explorer, of the operation that is in the editor, whichever tab that is.
  function Explorer() {
    const { queryEditor } = plugins.useEditorContext({ nonNull: true });
    const [query, setQuery] = useState(queryEditor ? queryEditor.getValue() : "");
    useEffect(() => {
      if (!queryEditor) return undefined;
      const read = () => setQuery(queryEditor.getValue());
      read();
      queryEditor.on("change", read);
      return () => queryEditor.off("change", read);
    }, [queryEditor]);
    return GraphiQLPluginExplorer.useExplorerPlugin({
      query, onEdit: (text) => queryEditor?.setValue(text),
    }).content();
  }

  const explorer = {
    title: "Explorer",
    icon: () => createElement(
      "svg", { height: "1em", viewBox: "0 0 24 24", fill: "none", stroke: "currentColor",
        strokeWidth: 1.5, strokeLinecap: "round" },
      createElement("path", { d: "M4 5h7M8 5v14h3M8 12h3" }),
      createElement("path", { d: "M14 5h6M14 12h6M14 19h6" })),
    content: Explorer,
  };

  const demo = "demo" in root.dataset ? JSON.parse(root.dataset.demo) : null;
  const start = startPane({ served: root.dataset.served, demo, token, file });
  const panes = [start, explorer, eventsPane({ events })];
  if ("explain" in root.dataset) {
    const place = new URL("explain", location.href);
    panes.push(planPane((request, headers) => post(place, request, headers).then(json)));
  }
  ReactDOM.render(
    createElement(
      GraphiQL,
      {
        fetcher, storage, defaultQuery, shouldPersistHeaders: false, plugins: panes,
        // Where there are examples, and beside the editor.
        visiblePlugin: demo && !matchMedia("(max-width: 700px)").matches ? start : undefined,
      },
      createElement(
        GraphiQL.Logo, null,
        createElement("output", { className: "answer-figures", "aria-label": "The last answer" }),
        createElement(SignIn))),
    root);
})();
