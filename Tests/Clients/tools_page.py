"""Calls the tools of a server from a page of another origin, in Chromium: tools_page.py PAGE TOOLS.

Prints what the page reads: the names of the tools, the result of One, and where a token is to be had.
"""
import json
import sys
import tempfile

from browser import Browser

page, tools = sys.argv[1:]
profile = tempfile.TemporaryDirectory()
browser = Browser(profile.name)
browser.call("Page.navigate", url=page)
browser.wait(f"location.href == {json.dumps(page)} && document.readyState == 'complete'")
SCRIPT = """
(async () => {
  const ask = (method, params, name) => fetch(TOOLS, {
    method: "POST",
    headers: {
      "content-type": "application/json", accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...(name ? { "mcp-name": name } : {}),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {} } } }),
  });
  const list = await (await ask("tools/list", {})).json();
  const refused = await ask("tools/call", { name: "Add", arguments: { id: 1 } }, "Add");
  const challenge = refused.headers.get("www-authenticate") || "";
  const place = /resource_metadata="([^"]+)"/.exec(challenge)?.[1];
  const metadata = place && await (await fetch(place)).json();
  return { names: list.result.tools.map((tool) => tool.name), status: refused.status, metadata };
})()
"""
try:
    print(json.dumps(browser.run(SCRIPT.replace("TOOLS", json.dumps(tools)))))
except SystemExit as reason:
    print(json.dumps({"failed": str(reason)}))
browser.close()
