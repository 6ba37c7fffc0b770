"""Uses the page at / as people do: HOST:PORT, post, token, picture. Prints what it sees, a line for each thing."""
import json
import re
import sys
import tempfile

from browser import Browser

host, post, token, picture = sys.argv[1:]
profile = tempfile.TemporaryDirectory()
browser = Browser(profile.name)


def tell(name, value=True):
    print(name, json.dumps(value), flush=True)


def click(label):
    browser.wait(
        "(b => b && (b.click(), true))([...document.querySelectorAll('button')]"
        f".find(b => (b.ariaLabel || b.textContent).startsWith({json.dumps(label)})))")


def write(editor, text):
    browser.wait(
        f"(e => e && (e.CodeMirror.setValue({json.dumps(text)}), true))"
        f"(document.querySelector('.graphiql-{editor} .CodeMirror'))")


def compose(text):
    """Writes an operation, and waits until the page has understood it."""
    write("query-editor", text)
    browser.wait(
        f"document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror"
        f".documentAST?.loc.source.body == {json.dumps(text)}")


def response():
    return "document.querySelector('.graphiql-response .CodeMirror')?.CodeMirror.getValue()"


def answered(text):
    browser.wait(f"({response()} || '').includes({json.dumps(text)})")


def sign_in(text):
    browser.run("document.querySelector('.session-token').focus()")
    browser.call("Input.insertText", text=text)


def stored():
    return browser.run("""(async () => JSON.stringify([
      {...localStorage}, {...sessionStorage}, document.cookie, await indexedDB.databases(), await caches.keys()]))()""")


browser.call("Page.navigate", url=f"http://{host}/")

# What the page opens with fits, on a telephone as well as beside the answer.
for width, height in ((390, 844), (1280, 800)):
    browser.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
    browser.wait(f"innerWidth == {width}")
    tell(f"opening-{width}", browser.wait("""(() => {
      const editor = document.querySelector('.graphiql-query-editor .CodeMirror')?.CodeMirror;
      if (!editor?.getValue().includes('query Example')) return false;
      const view = editor.getScrollerElement();
      return view.clientWidth > 100 && view.scrollWidth <= view.clientWidth;
    })()"""))
# Where there are examples, the pane with them is open beside the editor, and a choice on a telephone.
FITS = """(() => {
  const pane = document.querySelector('.start');
  const inside = pane && [...pane.querySelectorAll('*')].every(part => {
    const place = part.getBoundingClientRect();
    return place.width == 0 || place.left >= 0 && place.right <= innerWidth;
  });
  const buttons = [...document.querySelectorAll('.graphiql-sidebar button')].map(one => one.getBoundingClientRect());
  return inside && buttons.every(place => place.left >= 0 && place.right <= innerWidth)
    && document.documentElement.scrollWidth <= innerWidth && pane.getBoundingClientRect().width > 200;
})()"""
# The lightness of the text and of what is behind it differ.
READS = """(() => {
  const light = color => { const [r, g, b] = color.match(/[0-9.]+/g).map(Number); return (r + g + b) / 765; };
  const text = getComputedStyle(document.querySelector('.start-examples button')).color;
  const ground = getComputedStyle(document.querySelector('.graphiql-container')).backgroundColor;
  return Math.abs(light(text) - light(ground)) > 0.4 && (light(ground) < 0.5) == (SCHEME == 'dark');
})()"""
for scheme in ("light", "dark"):
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    for width, height in ((390, 844), (1280, 800)):
        browser.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        browser.call("Page.navigate", url=f"http://{host}/?{scheme}{width}")
        browser.wait(f"location.search == '?{scheme}{width}' && innerWidth == {width}")
        browser.wait("!!document.querySelector('.graphiql-query-editor .CodeMirror')")
        if width < 500:
            click("Show Start")
        browser.wait(FITS)
        tell(f"start-{scheme}-{width}", browser.wait(READS.replace("SCHEME", json.dumps(scheme))))
browser.call("Emulation.setEmulatedMedia", features=[])
tell("title", browser.run("document.title"))
tell("served", browser.run("document.querySelector('.start-served').innerText"))
browser.call("Emulation.clearDeviceMetricsOverride")

# What it opens with is an operation of this schema, whichever that is: it is answered without an error.
click("Execute")
answered('"data": {')
tell("example", browser.run(f"!{response()}.includes('\"errors\"')"))
tell("figures", browser.run("document.querySelector('.answer-figures').textContent"))

# An example comes with its variables and with who may run it; a picture goes with its mutation.
browser.wait("document.querySelector('.start-identity')?.value === ''")
click("An upload")
browser.wait("document.querySelector('.start-identity').value == 'of-eve'")
browser.wait("(e => e.documentAST?.loc.source.body == e.getValue())"
             "(document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror)")
tell("identity", browser.run("document.querySelector('.session-token').value"))
node = browser.call("DOM.querySelector", selector=".start-file", nodeId=browser.call("DOM.getDocument")["root"]["nodeId"])
browser.call("DOM.setFileInputFiles", files=[picture], nodeId=node["nodeId"])
browser.wait("!!document.querySelector('.start-field small')")
browser.run("document.querySelector('.session-token').select()")
sign_in(token)
browser.wait("document.querySelector('.start-identity').selectedOptions[0].text == 'a token of yours'")
click("Execute")
answered('"width"')
tell("upload", json.loads(browser.run(response()))["data"]["updateProfile"]["viewer"]["user"]["avatar"]["width"])
browser.run("""(() => {
  const menu = document.querySelector('.start-identity');
  Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(menu, '');
  menu.dispatchEvent(new Event('change', { bubbles: true }));
})()""")
browser.wait("document.querySelector('.session-token').value === ''")
click("Hide Start")
# The schema has come: the reference shows its types.
click("Show Documentation Explorer")
browser.wait("document.querySelector('.graphiql-plugin')?.innerText.includes('Subscription')")
click("Hide Documentation Explorer")

who = "query Who { viewer { user { username } } }"
compose(who)
click("Execute")
answered('"viewer": null')
sign_in(token)
click("Execute")
answered('"username"')
tell("viewer", json.loads(browser.run(response()))["data"]["viewer"]["user"]["username"])

# The tree shows what the editor has, and writes into it.
click("Show Explorer")
browser.wait("document.querySelector('.graphiql-explorer-root')?.innerText.includes('username')")
browser.run("""[...document.querySelectorAll('.graphiql-explorer-node')]
  .find(node => node.innerText.trim() == 'displayName').querySelector('span').click()""")
browser.wait("document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror.getValue().includes('displayName')")
click("Hide Explorer")
tell("explorer")

# What it comes to in PostgreSQL.
click("Show Plan")
click("Explain the operation")
browser.wait("document.querySelectorAll('.plan-picture rect, .plan-tree li').length > 2")
tell("plan", browser.run("[...document.querySelectorAll('.plan-fields th')].map(field => field.innerText)"))
click("Hide Plan")

# A subscription in a tab of its own.
click("Add tab")
compose(f'subscription {{ commentAdded(subjectId: "{post}") {{ body }} }}')
click("Execute")
answered("second comment")
tell("subscription", json.loads(browser.run(response()))["data"]["commentAdded"]["body"])
click("Stop")

# A live query: over the socket as well, until it is stopped.
click("Add tab")
compose(f'query @live {{ node(id: "{post}") {{ ... on Post {{ commentCount }} }} }}')
click("Execute")
answered('"commentCount": 2')
tell("live")
answered('"commentCount": 3')
click("Show Events")
tell("events", browser.wait(
    "(e => e.length == 2 && e)([...document.querySelectorAll('.events-list > li')].map(event => event.innerText))"))
click("Hide Events")
tell("live-again", json.loads(browser.run(response()))["data"]["node"]["commentCount"])
click("Stop")

# The parts of a deferred answer, dressed as a server does that has them.
accepted = []
PARTS = [
    {"data": {"a": {"b": 1}, "list": [1]}, "hasNext": True},
    {"incremental": [{"path": ["a"], "data": {"c": 2}}], "hasNext": True},
    {"incremental": [{"path": ["list", 1], "items": [2, 3]}], "hasNext": True},
    {"incremental": [{"path": ["a", "d"], "data": None, "errors": [{"message": "No."}]}], "hasNext": False},
]


def deferred(request):
    if "@defer" not in request.get("postData", ""):
        return None
    accepted.append(next(value for name, value in request["headers"].items() if name.lower() == "accept"))
    parts = "".join(f"\r\n---\r\nContent-Type: application/json\r\n\r\n{json.dumps(part)}" for part in PARTS)
    return 'multipart/mixed; boundary="-"; deferSpec=20220824', parts + "\r\n-----\r\n"


browser.answer = deferred
click("Add tab")
compose("{ ... @defer { __typename } }")
click("Execute")
answered("No.")
tell("deferred", [accepted, json.loads(browser.run(response()))])

# A token as a header, too: it is sent, and kept no more than the other.
click("Headers")
write("editor-tool .graphiql-editor:not(.hidden)", json.dumps({"Authorization": "Bearer " + token}))
compose(who + " # by header")
browser.run("document.querySelector('.session-token').focus()")
browser.run("document.execCommand('selectAll') && document.execCommand('delete')")
browser.wait("document.querySelector('.session-token').value === ''")
click("Execute")
answered('"username"')
browser.wait("JSON.stringify({...localStorage}).includes('by header')")
tell("stored", token in stored())

browser.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
browser.wait("innerWidth == 390")
tell("telephone", browser.wait("""(() => {
  const places = ['.graphiql-query-editor', '.graphiql-response', '.graphiql-execute-button', '.session-token']
    .map(name => document.querySelector(name).getBoundingClientRect());
  const isInside = places.every(place => place.left >= 0 && place.right <= 390 && place.top >= 0 && place.bottom <= 844);
  return isInside && places[0].width > 300 && places[1].width > 300 && places[1].height > 200
    && document.documentElement.scrollWidth <= 390;
})()"""))

browser.call("Page.reload")
browser.wait("document.querySelector('.session-token')?.value === ''")
tell("strangers", [url for url in browser.requests if not re.match(rf"(http|ws)://{re.escape(host)}/|data:", url)])
tell("faults", browser.events)
browser.close()
