"use strict";
// The pane "Plan": what the operation in the editor comes to in PostgreSQL. It is run once for that,
// as who is signed in; the server says no to what it would not run.

// - ask: given {query, variables, operationName} and headers, resolves to the report.
function planPane(ask) {
  const { createElement, Fragment, useMemo, useState } = React;
  const plugins = GraphiQL.React;
  const element = (name, className, ...children) => createElement(name, { className }, ...children);

  function Pane() {
    const { queryEditor, variableEditor, headerEditor } = plugins.useEditorContext({ nonNull: true });
    const [state, setState] = useState({});
    async function explain() {
      setState({ isRunning: true });
      try {
        const variables = variableEditor?.getValue().trim();
        const headers = headerEditor?.getValue().trim();
        const report = await ask({
          query: queryEditor.getValue(),
          operationName: queryEditor.operationName || undefined,
          variables: variables ? JSON.parse(variables) : undefined,
        }, headers ? JSON.parse(headers) : {});
        if (report.errors) setState({ errors: report.errors.map((error) => error.message) });
        else if (report.statement === undefined) throw new Error(report.text || "No report came.");
        else setState({ report });
      } catch (error) {
        setState({ errors: [String(error.message || error)] });
      }
    }
    return element(
      "section", "plan",
      element("div", "plan-title", "Plan"),
      createElement(
        "button",
        { type: "button", className: "graphiql-button", disabled: state.isRunning, onClick: explain },
        state.isRunning ? "Running …" : "Explain the operation"),
      element("p", "plan-note", "Runs it, and shows what PostgreSQL did. Mutations are not run."),
      ...(state.errors || []).map((text) => createElement(
        "p", { className: "plan-error", role: "alert", key: text }, text)),
      state.report && createElement(Report, { report: state.report }));
  }

  function Report({ report }) {
    const { nodes } = report;
    const [chosen, choose] = useState(0);
    return createElement(
      Fragment, null,
      element(
        "p", "plan-times", `Executed in ${milliseconds(report.executionMilliseconds)}, measured; `,
        `planned in ${milliseconds(report.planningMilliseconds)}.`),
      heading("Fields", "own time and rows of each"),
      createElement(Fields, { fields: report.fields }),
      nodes.length > 0 && heading("PostgreSQL's plan", "as wide as its time"),
      nodes.length > 0 && createElement(Picture, { nodes, chosen, choose }),
      nodes.length > 0 && createElement(Details, { node: nodes[chosen] }),
      nodes.length > 0 && createElement(Tree, { nodes, chosen, choose }),
      heading("Statement"),
      element("pre", "plan-statement", report.statement || "-- no statement"),
      report.parameters.length > 0 && heading("Parameters"),
      element("ul", "plan-parameters", ...report.parameters.map((parameter) => createElement(
        "li", { key: parameter.number }, `$${parameter.number} ${parameter.source}`,
        parameter.value === null ? "" : ` = ${parameter.value}`))));
  }

  function heading(text, note) {
    return element("h3", "", text, note && element("small", "", " ", note));
  }

  function Fields({ fields }) {
    const all = fields.reduce((sum, field) => sum + field.ownMilliseconds, 0) || 1;
    return element(
      "table", "plan-fields",
      createElement("tbody", null, ...fields.map((field) => createElement(
        "tr", { key: field.field },
        element("th", "", field.field || "(the root)"),
        element("td", "", milliseconds(field.ownMilliseconds)),
        createElement("td", null, createElement("meter", {
          min: 0, max: 1, value: field.ownMilliseconds / all,
        })),
        element("td", "", `${count(field.rows)} rows`)))));
  }

  // Each node beneath the one it works for, as wide as its time with all beneath it.
  function layOut(nodes) {
    const places = [];
    const open = [];
    nodes.forEach((node, index) => {
      open.length = node.depth;
      const parent = open[node.depth - 1];
      let place = { x: 0, width: 1, next: 0 };
      if (parent) {
        const share = node.totalMilliseconds / (nodes[parent.index].totalMilliseconds || 1);
        const width = Math.min(parent.width * share, parent.x + parent.width - parent.next);
        place = { x: parent.next, width: Math.max(width, 0) };
        parent.next += place.width;
      }
      open[node.depth] = { ...place, next: place.x, index };
      places.push(place);
    });
    return places;
  }

  const percent = (part) => `${(part * 100).toFixed(3)}%`;

  function Picture({ nodes, chosen, choose }) {
    const places = useMemo(() => layOut(nodes), [nodes]);
    const slowest = Math.max(...nodes.map((node) => node.ownMilliseconds)) || 1;
    const row = 18;
    const height = row * (1 + Math.max(...nodes.map((node) => node.depth)));
    return createElement(
      "svg", { className: "plan-picture", width: "100%", height, role: "img",
        "aria-label": "The plan's nodes by their time" },
      ...nodes.map((node, index) => places[index].width > 0 && createElement(
        "svg",
        { key: index, x: percent(places[index].x), y: row * node.depth, height: row - 1,
          width: percent(places[index].width), onClick: () => choose(index),
          className: index === chosen ? "chosen" : "" },
        createElement("title", null, title(node)),
        createElement("rect", { width: "100%", height: "100%",
          fill: "hsl(var(--color-primary))",
          fillOpacity: 0.1 + 0.5 * (node.ownMilliseconds / slowest) }),
        places[index].width > 0.15 && createElement("text", { x: 4, y: 13 }, node.title))));
  }

  function title(node) {
    return `${node.title}: ${milliseconds(node.totalMilliseconds)}` +
      (node.field ? `, ${node.field}` : "");
  }

  function Details({ node }) {
    const each = node.loops > 0 ? node.totalMilliseconds / node.loops : 0;
    return element(
      "div", "plan-details",
      element("strong", "", node.title),
      element("div", "", node.field ? `for ${node.field}` : "for the whole answer"),
      element("div", "", node.loops > 0
        ? `${count(node.loops)} × ${milliseconds(each)}, ${count(node.rows)} rows each; ` +
          `${milliseconds(node.ownMilliseconds)} its own`
        : "never executed"),
      ...node.details.map((detail, index) => createElement("div", { key: index }, detail)));
  }

  function Tree({ nodes, chosen, choose }) {
    return element("ol", "plan-tree", ...nodes.map((node, index) => createElement(
      "li", { key: index },
      createElement(
        "button",
        { type: "button", style: { paddingLeft: `${node.depth * 10 + 4}px` },
          className: index === chosen ? "chosen" : "", onClick: () => choose(index) },
        node.subplan && element("small", "", node.subplan, node.field ? ` [${node.field}] ` : " "),
        node.title, " ",
        element("small", "", milliseconds(node.ownMilliseconds))))));
  }

  function milliseconds(value) {
    return `${value.toFixed(value < 10 ? 3 : 1)} ms`;
  }

  function count(value) {
    return value.toLocaleString("en", { maximumFractionDigits: 1 });
  }

  return {
    title: "Plan",
    icon: () => createElement(
      "svg", { height: "1em", viewBox: "0 0 24 24", fill: "none", stroke: "currentColor",
        strokeWidth: 1.5, strokeLinejoin: "round" },
      createElement("path", { d: "M3 4h18v5H3zM3 9h11v5H3zM3 14h6v5H3z" })),
    content: Pane,
  };
}
