"use strict";
// The pane "Start": what is served here, who one can be, and operations to begin with.

// A value that several components show.
function shared(value) {
  const listeners = new Set();
  return {
    get: () => value,
    set(next) {
      value = next;
      for (const listener of listeners) listener(value);
    },
    use() {
      const [shown, show] = React.useState(value);
      React.useEffect(() => {
        show(value);
        listeners.add(show);
        return () => listeners.delete(show);
      }, []);
      return shown;
    },
  };
}

// - served: the names of the database and of the schema.
// - demo: {identities, examples}; null for a database without any.
// - token, file: the shared values of who is signed in, and of the file that takes the place of a null.
function startPane({ served, demo, token, file }) {
  const { createElement } = React;
  const plugins = GraphiQL.React;
  const element = (name, className, ...children) => createElement(name, { className }, ...children);

  function Pane() {
    return element(
      "section", "start",
      element("div", "start-title", "Start"),
      element("p", "start-served", served),
      demo && createElement(Identities),
      demo && createElement(Examples),
      createElement(FileChoice));
  }

  function Identities() {
    const chosen = token.use();
    return element(
      "label", "start-field", "Signed in as",
      createElement(
        "select",
        { className: "start-identity", value: chosen, onChange: (event) => token.set(event.target.value) },
        createElement("option", { value: "" }, "nobody"),
        ...demo.identities.map(({ name, token: value }) =>
          createElement("option", { key: value, value }, name)),
        ...(chosen && !demo.identities.some((identity) => identity.token === chosen)
          ? [createElement("option", { key: "own", value: chosen }, "a token of yours")] : [])));
  }

  function Examples() {
    const { queryEditor, variableEditor } = plugins.useEditorContext({ nonNull: true });
    const { setVisiblePlugin } = plugins.usePluginContext({ nonNull: true });
    function open(example) {
      queryEditor?.setValue(example.query);
      variableEditor?.setValue(example.variables ? JSON.stringify(example.variables, null, 2) : "");
      if (example.as && !token.get()) token.set(example.as);
      // On a telephone the pane stands above the editor.
      if (matchMedia("(max-width: 700px)").matches) setVisiblePlugin(null);
    }
    return element(
      "ul", "start-examples",
      ...demo.examples.map((example) => createElement(
        "li", { key: example.name },
        createElement("button", { type: "button", onClick: () => open(example) }, example.name))));
  }

  function FileChoice() {
    const chosen = file.use();
    return element(
      "label", "start-field", "File for the first variable that is null",
      createElement("input", {
        type: "file", className: "start-file",
        onChange: (event) => file.set(event.target.files[0] || null),
      }),
      chosen && element("small", "", `${chosen.name}, ${chosen.size} bytes`));
  }

  return {
    title: "Start",
    icon: () => createElement(
      "svg", { height: "1em", viewBox: "0 0 24 24", fill: "none", stroke: "currentColor",
        strokeWidth: 1.5, strokeLinejoin: "round" },
      createElement("path", { d: "M4 4h16v16H4zM8 9h8M8 13h8M8 17h4" })),
    content: Pane,
  };
}
