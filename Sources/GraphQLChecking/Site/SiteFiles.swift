/// The files of a schema's site that are the same for every schema.
enum SiteFiles {
  static let style = """
    :root { color-scheme: light dark; --line: #8884; --quiet: #777; --mark: #b3261e; }
    * { box-sizing: border-box; }
    body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 0 1rem 4rem; }
    header { display: flex; gap: 1rem; align-items: center; padding: .75rem 0; position: sticky; top: 0;
      background: Canvas; border-bottom: 1px solid var(--line); }
    header a { font-weight: 600; }
    input { flex: 1; min-width: 0; font: inherit; padding: .3rem .6rem; border: 1px solid var(--line);
      border-radius: .4rem; }
    a { color: LinkText; text-decoration: none; }
    a:hover { text-decoration: underline; }
    h1, h3 { overflow-wrap: anywhere; }
    h2 { margin-top: 2.5rem; }
    h3 { font-size: 1rem; margin: 0; }
    h3 code { white-space: normal; }
    section { border-top: 1px solid var(--line); padding: 1rem 0 .25rem; scroll-margin-top: 4rem; }
    section p { margin: .4rem 0; }
    code { font: .92em ui-monospace, monospace; overflow-wrap: anywhere; }
    pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--line); border-radius: .4rem; }
    pre code { overflow-wrap: normal; }
    nav { display: flex; flex-wrap: wrap; gap: .2rem .9rem; margin: 1rem 0; font-size: .9rem; }
    .letter { margin-top: 1rem; color: var(--quiet); }
    h2 { scroll-margin-top: 4rem; }
    .kind { color: var(--quiet); }
    .deprecated { color: var(--mark); }
    .list, #results { list-style: none; padding: 0; }
    .list li, #results li { padding: .2rem 0; overflow-wrap: anywhere; }
    #results:empty { display: none; }
    dl { margin: .5rem 0 .5rem 1rem; }
    dd { margin: 0 0 .5rem 1rem; }
    .wide { overflow-x: auto; }
    table { border-collapse: collapse; font-size: .85rem; }
    th, td { border: 1px solid var(--line); padding: .2rem .5rem; text-align: left; }
    summary { cursor: pointer; color: var(--quiet); }

    """

  /// Shows the entries that have all words: those whose name begins with one first.
  static let search = """
    const input = document.getElementById("search");
    const results = document.getElementById("results");
    function rank(entry, words) {
      const name = entry[0].toLowerCase(), text = name + " " + entry[2].toLowerCase();
      let score = 0;
      for (const word of words) {
        if (!text.includes(word)) return 0;
        const last = name.slice(name.lastIndexOf(".") + 1);
        score += last === word ? 8 : last.startsWith(word) ? 4 : name.includes(word) ? 2 : 1;
      }
      return score;
    }
    function list() {
      const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
      const found = words.length === 0 ? [] : entries
        .map((entry) => [rank(entry, words), entry])
        .filter(([score]) => score > 0)
        .sort((a, b) => b[0] - a[0] || a[1][0].length - b[1][0].length)
        .slice(0, 20);
      results.replaceChildren(...found.map(([, [name, address, text]]) => {
        const item = document.createElement("li"), link = document.createElement("a");
        const code = document.createElement("code");
        code.textContent = name;
        link.href = address;
        link.append(code);
        item.append(link, " " + text);
        return item;
      }));
    }
    input.addEventListener("input", list);
    list();

    """
}
