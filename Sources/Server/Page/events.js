"use strict";
// The pane "Events": what came of a stream, in order, and what each changed.

// - events: the shared list of {number, milliseconds, value, before}; `before` is undefined where events
//   have nothing to do with each other.
function eventsPane({ events }) {
  const { createElement } = React;
  const element = (name, className, ...children) => createElement(name, { className }, ...children);
  const maximumLines = 30;

  function Pane() {
    const shown = events.use();
    return element(
      "section", "events",
      element("div", "events-title", "Events"),
      shown.length === 0 && element("p", "events-note", "Subscriptions and live queries are listed here."),
      element("ol", "events-list", ...shown.map((event) => createElement(
        "li", { key: event.number },
        element("small", "", `${event.number}, after ${(event.milliseconds / 1000).toFixed(1)} s`),
        event.before === undefined
          ? element("pre", "", JSON.stringify(event.value, null, 2))
          : createElement(Changes, event)))));
  }

  function Changes({ before, value }) {
    const all = changes(before, value, "");
    return element(
      "ul", "events-changes",
      ...all.slice(0, maximumLines).map((change, place) => createElement(
        "li", { key: place },
        element("code", "", change.path), " ",
        change.before !== undefined && element("del", "", JSON.stringify(change.before)), " ",
        change.after !== undefined && element("ins", "", JSON.stringify(change.after)))),
      all.length > maximumLines && createElement(
        "li", { key: "more" }, `and ${all.length - maximumLines} more`));
  }

  // The leaves that differ, and the elements of lists that came or went.
  function changes(before, after, path) {
    if (same(before, after)) return [];
    const isObject = (value) => value && typeof value === "object";
    if (!isObject(before) || !isObject(after) || Array.isArray(before) !== Array.isArray(after)) {
      return [{ path, before, after }];
    }
    if (Array.isArray(after)) return listChanges(before, after, path);
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) =>
      changes(before[name], after[name], path ? `${path}.${name}` : name));
  }

  // An element that came where another one went is that one, changed.
  function listChanges(before, after, path) {
    const result = [];
    const kept = common(before.map((value) => JSON.stringify(value)), after.map((value) => JSON.stringify(value)));
    let [old, now] = [0, 0];
    for (const [oldPlace, newPlace] of [...kept, [before.length, after.length]]) {
      while (old < oldPlace || now < newPlace) {
        const place = now < newPlace ? now : old;
        result.push(...changes(
          old < oldPlace ? before[old] : undefined, now < newPlace ? after[now] : undefined, `${path}[${place}]`));
        if (old < oldPlace) old += 1;
        if (now < newPlace) now += 1;
      }
      [old, now] = [oldPlace + 1, newPlace + 1];
    }
    return result;
  }

  // The places of the longest common subsequence of two lists; of long ones, no common elements.
  function common(before, after) {
    if (before.length * after.length > 40000) return [];
    const lengths = Array.from({ length: before.length + 1 }, () => new Array(after.length + 1).fill(0));
    for (let old = before.length - 1; old >= 0; old -= 1) {
      for (let now = after.length - 1; now >= 0; now -= 1) {
        lengths[old][now] = before[old] === after[now]
          ? 1 + lengths[old + 1][now + 1] : Math.max(lengths[old + 1][now], lengths[old][now + 1]);
      }
    }
    const places = [];
    let [old, now] = [0, 0];
    while (old < before.length && now < after.length) {
      if (before[old] === after[now]) {
        places.push([old, now]);
        old += 1;
        now += 1;
      } else if (lengths[old + 1][now] >= lengths[old][now + 1]) old += 1;
      else now += 1;
    }
    return places;
  }

  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  return {
    title: "Events",
    icon: () => createElement(
      "svg", { height: "1em", viewBox: "0 0 24 24", fill: "none", stroke: "currentColor",
        strokeWidth: 1.5, strokeLinecap: "round" },
      createElement("path", { d: "M4 6h1M9 6h11M4 12h1M9 12h11M4 18h1M9 18h11" })),
    content: Pane,
  };
}
