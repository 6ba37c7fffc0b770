"""Calls the tools of a server by the Model Context Protocol's own client: tools.py URL MODE [TOKEN].

MODE is a revision of the protocol, `legacy` (`initialize` first) or `auto` (asks which of both). With `sign-in` the
client is auto, has no token, and gets one by itself: TOKEN is then the one that the issuer will give, and the issuer
listens on the port of the environment's ISSUER_PORT.

Prints the names of the tools, then for each line NAME ARGUMENTS of standard input the result as JSON: whether it is an
error, and its structured content, or the message with which the server refused it.
"""
import asyncio
import contextlib
import http.server
import json
import os
import sys
import threading
import urllib.parse

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata


class Issuer(http.server.BaseHTTPRequestHandler):
    """An authorization server that lets everybody in."""

    token = ""

    def answer(self, value, status=200, headers=()):
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in headers:
            self.send_header(name, text)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        base = f"http://127.0.0.1:{self.server.server_port}"
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/.well-known/oauth-authorization-server":
            self.answer({
                "issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token",
                "registration_endpoint": base + "/register", "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"]})
        elif url.path == "/authorize":
            query = urllib.parse.parse_qs(url.query)
            back = urllib.parse.urlencode({"code": "let-in", "state": query["state"][0]})
            self.answer({}, 302, [("Location", f"{query['redirect_uri'][0]}?{back}")])
        else:
            self.answer({}, 404)

    def do_POST(self):
        given = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/register":
            self.answer({**json.loads(given), "client_id": "a-client"}, 201)
        else:
            self.answer({"access_token": self.token, "token_type": "Bearer", "expires_in": 3600})

    def log_message(self, *_):
        pass


class Kept:
    """What the client keeps: nothing, at first."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def sign_in(url):
    seen = {}

    async def visit(page):
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(page)
            seen.update(urllib.parse.parse_qs(urllib.parse.urlsplit(answer.headers["location"]).query))

    async def come_back():
        return AuthorizationCodeResult(code=seen["code"][0], state=seen["state"][0])

    about = OAuthClientMetadata(client_name="tools.py", redirect_uris=["http://127.0.0.1:9/back"])
    return OAuthClientProvider(url, about, Kept(), visit, come_back)


async def main(url, mode, token):
    options = {"headers": {"Authorization": "Bearer " + token} if token else {}}
    if mode == "sign-in":
        Issuer.token = token
        try:
            server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["ISSUER_PORT"])), Issuer)
        except OSError:
            return print(json.dumps({"taken": True}))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        options = {"auth": sign_in(url)}
        mode = "auto"
    async with contextlib.AsyncExitStack() as stack:
        web = await stack.enter_async_context(httpx2.AsyncClient(**options))
        client = await stack.enter_async_context(Client(streamable_http_client(url, http_client=web), mode=mode))
        listed = await client.list_tools()
        print(json.dumps({"tools": {tool.name: tool.input_schema for tool in listed.tools}}))
        for line in sys.stdin:
            name, _, arguments = line.strip().partition(" ")
            try:
                result = await client.call_tool(name, json.loads(arguments or "{}"))
                print(json.dumps({"isError": bool(result.is_error), "content": result.structured_content}))
            except Exception as error:  # pylint: disable=broad-except
                print(json.dumps({"refused": str(error)}))


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""))
