"""Any number of WebSockets with a subscription each, in clear or through TLS, in one process and one epoll."""

import base64
import errno
import heapq
import json
import os
import random
import select
import socket
import ssl
import struct
import sys
import time

NEXT = b'"type":"next"'


def frame(text):
    """A text frame of a client, masked with zeros."""
    data = text.encode()
    length = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))
    return b"\x81" + length + b"\0\0\0\0" + data


PONG = b"\x8a\x80\0\0\0\0"
CONNECTING, ENCRYPTING, UPGRADING, STARTING, SUBSCRIBED = range(5)


class Client:
    """One socket on its way to its subscription."""

    __slots__ = ("number", "state", "socket", "pending")

    def __init__(self, number):
        self.number = number
        self.state = CONNECTING
        self.socket = None
        self.pending = b""


class Sockets:
    def __init__(self, port, tls=False):
        self.port = port
        self.context = None
        if tls:
            self.context = ssl.create_default_context()
            self.context.check_hostname = False
            self.context.verify_mode = ssl.CERT_NONE
        self.poll = select.epoll()
        self.clients = {}
        self.refused = 0

    # Coming

    def open(self, count, document, variables, tokens=None, at_once=500, patience=None):
        """Returns when all have sent their subscription; `patience`, in seconds, has who is refused come again."""
        payload = {"query": document, "variables": variables}
        self.subscription = frame(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))
        self.tokens = tokens
        waiting = [(0, number) for number in range(count)]
        coming = 0
        began = time.perf_counter()
        while waiting or coming:
            while waiting and coming < at_once and waiting[0][0] <= time.perf_counter():
                self.begin(Client(heapq.heappop(waiting)[1]))
                coming += 1
            for descriptor, _ in self.poll.poll(0.05):
                client = self.clients[descriptor]
                is_coming = client.state != SUBSCRIBED
                try:
                    if not is_coming:
                        self.attend(client)
                        continue
                    while self.step(client):
                        pass
                except OSError as error:
                    if patience is None or time.perf_counter() - began > patience:
                        sys.exit(f"live: a socket was refused: {error}")
                    self.refused += 1
                    self.forget(client)
                    coming -= is_coming
                    heapq.heappush(waiting, (time.perf_counter() + random.uniform(0.2, 1), client.number))
                    continue
                if client.state == SUBSCRIBED:
                    coming -= 1

    def begin(self, client):
        client.socket = socket.socket()
        client.socket.setblocking(False)
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.socket.connect_ex(("127.0.0.1", self.port))
        self.clients[client.socket.fileno()] = client
        self.poll.register(client.socket.fileno(), select.EPOLLIN | select.EPOLLOUT)

    def forget(self, client):
        descriptor = client.socket.fileno()
        self.poll.unregister(descriptor)
        del self.clients[descriptor]
        client.socket.close()

    def step(self, client):
        """Goes on by one step; false when it has to wait, or is there."""
        if client.state == CONNECTING:
            failure = client.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if failure:
                raise OSError(failure, os.strerror(failure))
            client.state = UPGRADING
            if self.context:
                client.socket = self.context.wrap_socket(client.socket, do_handshake_on_connect=False)
                client.state = ENCRYPTING
                return True
            self.upgrade(client)
        elif client.state == ENCRYPTING:
            try:
                client.socket.do_handshake()
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return False
            self.upgrade(client)
        elif client.state == UPGRADING:
            if not self.receive(client):
                return False
            if b"\r\n\r\n" not in client.pending:
                return True
            head, client.pending = client.pending.split(b"\r\n\r\n", 1)
            if b" 101 " not in head:
                raise OSError(errno.ECONNREFUSED, head.decode())
            start = {"type": "connection_init"}
            if self.tokens:
                start["payload"] = {"authorization": "Bearer " + self.tokens[client.number]}
            client.socket.send(frame(json.dumps(start)))
            client.state = STARTING
        elif client.state == STARTING:
            if not self.receive(client):
                return False
            if b"connection_ack" not in client.pending:
                return True
            client.pending = b""
            client.socket.send(self.subscription)
            client.state = SUBSCRIBED
            return False
        return True

    def upgrade(self, client):
        self.poll.modify(client.socket.fileno(), select.EPOLLIN)
        client.socket.send(
            b"GET /graphql HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n"
            b"Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)) + b"\r\n\r\n")
        client.state = UPGRADING

    # Hearing

    def receive(self, client):
        """Takes what is there; false for nothing."""
        try:
            data = client.socket.recv(1 << 18)
            while self.context and client.socket.pending():
                data += client.socket.recv(1 << 18)
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        if not data:
            raise OSError(errno.ECONNRESET, "a socket was closed")
        client.pending += data
        return True

    def ready(self, wait):
        for descriptor, _ in self.poll.poll(max(0, wait)):
            client = self.clients[descriptor]
            if self.receive(client):
                yield client

    def count(self, messages, wait=120):
        """Reads until there were so many messages, whatever they say."""
        end = time.perf_counter() + wait
        while messages > 0:
            if time.perf_counter() > end:
                sys.exit(f"live: {messages} messages did not come")
            for client in self.ready(1):
                messages -= client.pending.count(NEXT)
                self.answer_pings(client)
                # Part of the word may be the end of what is there.
                client.pending = client.pending[-len(NEXT) + 1:]

    def read(self, messages, on_message, wait=60):
        """Reads so many messages, and hands each of them over."""
        end = time.perf_counter() + wait
        while messages > 0:
            if time.perf_counter() > end:
                sys.exit(f"live: {messages} messages did not come")
            for client in self.ready(1):
                data, place = client.pending, 0
                while len(data) - place >= 2:
                    length, head = data[place + 1], 2
                    if length == 126:
                        if len(data) - place < 4:
                            break
                        length, head = struct.unpack_from(">H", data, place + 2)[0], 4
                    if len(data) - place < head + length:
                        break
                    message = data[place + head:place + head + length]
                    if data[place] == 0x89:
                        client.socket.send(PONG)
                    elif NEXT not in message:
                        sys.exit(f"live: another message: {message}")
                    else:
                        on_message(message)
                        messages -= 1
                    place += head + length
                client.pending = data[place:]

    def attend(self, client):
        """For who is to hear of nothing."""
        if not self.receive(client):
            return
        if b'"type":"error"' in client.pending:
            raise OSError(errno.ECONNREFUSED, client.pending.decode(errors="replace"))
        self.answer_pings(client)
        client.pending = b""

    def answer_pings(self, client):
        """Whoever does not answer one is taken to be gone."""
        if b"\x89\0" in client.pending:
            client.socket.send(PONG)

    def idle(self, seconds):
        """Nothing comes but pings."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for descriptor, _ in self.poll.poll(max(0, end - time.perf_counter())):
                self.attend(self.clients[descriptor])

    def drain(self):
        """Reads until all are closed by the server."""
        while self.clients:
            for descriptor, _ in self.poll.poll(1):
                client = self.clients[descriptor]
                try:
                    self.receive(client)
                    client.pending = b""
                except OSError:
                    self.forget(client)

    def close(self):
        for client in self.clients.values():
            client.socket.close()
        self.clients = {}
        self.poll.close()
        self.poll = select.epoll()
