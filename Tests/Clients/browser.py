"""A Chromium without a window, driven over pipes by its DevTools protocol."""
import base64
import json
import os
import select
import subprocess
import time

PATIENCE = 60


class Browser:
    def __init__(self, profile):
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def take_pipes():
            # By way of numbers that neither of them has.
            for source, target in ((to_browser, 103), (from_browser, 104), (103, 3), (104, 4)):
                os.dup2(source, target)

        command = [
            "chromium", "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir=" + profile,
            # There is no network but this machine.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "about:blank"]
        if os.geteuid() == 0:
            command.insert(1, "--no-sandbox")
        self._process = subprocess.Popen(
            command, close_fds=False, preexec_fn=take_pipes, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._bytes, self._number, self._session = b"", 0, None
        self.events, self.requests, self.answer = [], [], lambda request: None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.call("Fetch.enable", patterns=[{"urlPattern": "*"}])

    def _send(self, method, parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        return self._number

    def _receive(self, until):
        """The next message; None when none came in time."""
        while b"\0" not in self._bytes:
            if not select.select([self._in], [], [], max(0, until - time.monotonic()))[0]:
                return None
            more = os.read(self._in, 1 << 20)
            if not more:
                raise SystemExit("the browser has ended")
            self._bytes += more
        message, self._bytes = self._bytes.split(b"\0", 1)
        return json.loads(message)

    def _note(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Network.webSocketCreated":
            self.requests.append(parameters["url"])
        elif method == "Fetch.requestPaused":
            request = parameters["request"]
            self.requests.append(request["url"])
            answer = self.answer(request)
            if answer is None:
                self._send("Fetch.continueRequest", {"requestId": parameters["requestId"]})
            else:
                kind, body = answer
                self._send("Fetch.fulfillRequest", {
                    "requestId": parameters["requestId"], "responseCode": 200,
                    "responseHeaders": [{"name": "Content-Type", "value": kind}],
                    "body": base64.b64encode(body.encode()).decode()})
        elif method in ("Log.entryAdded", "Runtime.exceptionThrown"):
            self.events.append(json.dumps(parameters))

    def call(self, method, **parameters):
        number = self._send(method, parameters)
        until = time.monotonic() + PATIENCE
        while True:
            message = self._receive(until)
            if message is None:
                raise SystemExit(f"{method} is not answered")
            if message.get("id") == number:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']}")
                return message["result"]
            self._note(message)

    def run(self, script):
        """The value of an expression in the page."""
        result = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, script):
        """The value of an expression, once it is true."""
        until = time.monotonic() + PATIENCE
        while True:
            value = self.run(script)
            if value:
                return value
            if time.monotonic() > until:
                raise SystemExit(f"never true: {script}; {self.run('document.body.innerText')}; {self.events}")
            message = self._receive(time.monotonic() + 0.1)
            if message:
                self._note(message)

    def close(self):
        self.call("Browser.close")
        self._process.wait(PATIENCE)
