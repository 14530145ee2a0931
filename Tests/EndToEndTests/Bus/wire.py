"""The D-Bus wire format by hand: what no library would send can be sent.

Values of a variant are (signature, value); an array's content may be bytes, which go in as they are.
"""

import array
import os
import select
import socket
import struct
import time

CALL, RETURN, ERROR, SIGNAL = 1, 2, 3, 4
NO_REPLY, NO_AUTO_START = 1, 2
PATH, INTERFACE, MEMBER, ERROR_NAME, REPLY_SERIAL, DESTINATION, SENDER, SIGNATURE, FDS = range(1, 10)
FIELD_TYPES = {PATH: "o", REPLY_SERIAL: "u", SIGNATURE: "g", FDS: "u"}
FORMATS = dict(y="B", b="I", n="h", q="H", i="i", u="I", x="q", t="Q", d="d", h="I")
ALIGNMENTS = {**{code: struct.calcsize(f) for code, f in FORMATS.items()}, **dict.fromkeys("({", 8)}
ALIGNMENTS.update(dict.fromkeys("soa", 4), g=1, v=1)


def complete_type(signature, start=0):
    """The end of the complete type that begins at `start`."""
    if signature[start] == "a":
        return complete_type(signature, start + 1)
    if signature[start] not in "({":
        return start + 1
    depth, end = 1, start + 1
    while depth:
        depth += (signature[end] in "({") - (signature[end] in ")}")
        end += 1
    return end


def types(signature):
    start = 0
    while start < len(signature):
        end = complete_type(signature, start)
        yield signature[start:end]
        start = end


class Writer:
    def __init__(self, endian="<"):
        self.bytes, self.endian = bytearray(), endian

    def align(self, size):
        self.bytes += bytes(-len(self.bytes) % size)

    def all(self, signature, values):
        for kind, value in zip(types(signature), values, strict=True):
            self.one(kind, value)
        return self

    def one(self, kind, value):
        code = kind[0]
        self.align(ALIGNMENTS[code])
        if code in FORMATS:
            self.bytes += struct.pack(self.endian + FORMATS[code], value)
        elif code in "so":
            text = value if isinstance(value, bytes) else value.encode()
            self.one("u", len(text))
            self.bytes += text + b"\0"
        elif code == "g":
            self.bytes += bytes([len(value)]) + value.encode() + b"\0"
        elif code == "v":
            self.one("g", value[0])
            self.one(*value)
        elif code == "a":
            self.one("u", 0)
            at = len(self.bytes)
            self.align(ALIGNMENTS[kind[1]])
            start = len(self.bytes)
            if isinstance(value, bytes):
                self.bytes += value
            else:
                for element in value.items() if isinstance(value, dict) else value:
                    self.one(kind[1:], element)
            struct.pack_into(self.endian + "I", self.bytes, at - 4, len(self.bytes) - start)
        else:
            self.all(kind[1:-1], value)


class Reader:
    def __init__(self, data, endian):
        self.data, self.at, self.endian = data, 0, endian

    def align(self, size):
        self.at += -self.at % size

    def take(self, count):
        self.at += count
        return self.data[self.at - count : self.at]

    def all(self, signature):
        return [self.one(kind) for kind in types(signature)]

    def one(self, kind):
        code = kind[0]
        self.align(ALIGNMENTS[code])
        if code in FORMATS:
            form = self.endian + FORMATS[code]
            number = struct.unpack(form, self.take(struct.calcsize(form)))[0]
            return number == 1 if code == "b" else number
        if code in "sog":
            text = self.take(self.one("y" if code == "g" else "u"))
            self.take(1)
            return text.decode()
        if code == "v":
            return self.one(self.one("g"))
        if code == "a":
            end = self.one("u")
            self.align(ALIGNMENTS[kind[1]])
            end += self.at
            values = []
            while self.at < end:
                values.append(self.one(kind[1:]))
            return dict(values) if kind[1] == "{" else values
        return self.all(kind[1:-1])


def message(kind, serial, fields, signature="", values=(), flags=0, endian="<", body=None):
    """The bytes of a message. `body` in place of values is sent as it is."""
    if body is None:
        body = Writer(endian).all(signature, values).bytes
    if signature:
        fields = {**fields, SIGNATURE: signature}
    head = Writer(endian)
    head.bytes += bytes([ord("l" if endian == "<" else "B"), kind, flags, 1])
    head.all("uu", (len(body), serial))
    typed = [(code, (FIELD_TYPES.get(code, "s"), value)) for code, value in fields.items()]
    head.one("a(yv)", typed)
    head.align(8)
    return bytes(head.bytes) + bytes(body)


class Closed(Exception):
    """The bus has ended this connection."""


class Connection:
    """One connection to the session bus, with its greeting done unless told otherwise."""

    def __init__(self, greet=True):
        path = os.environ["DBUS_SESSION_BUS_ADDRESS"].removeprefix("unix:path=").split(",")[0]
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.buffer, self.serial, self.others = b"", 0, []
        if greet:
            self.authenticate()
            bus = "org.freedesktop.DBus"
            self.name = self.call(bus, "/org/freedesktop/DBus", bus, "Hello")[1][0]

    def authenticate(self):
        identity = str(os.geteuid()).encode().hex().encode()
        self.socket.sendall(b"\0AUTH EXTERNAL " + identity + b"\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n")
        while self.buffer.count(b"\r\n") < 2:
            self.receive(10)
        assert self.buffer.startswith(b"OK ") and self.buffer.endswith(b"AGREE_UNIX_FD\r\n")
        self.buffer = b""

    def close(self):
        self.socket.close()

    def send(self, data, fds=()):
        """Sends bytes; a bus that closes while they are sent is noticed when reading."""
        try:
            if fds:
                ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
                sent = self.socket.sendmsg([data], ancillary)
                data = data[sent:]
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def send_call(self, destination, path, interface, member, signature="", *values, **more):
        self.serial += 1
        fields = {PATH: path, INTERFACE: interface, MEMBER: member, DESTINATION: destination}
        fields = {code: value for code, value in fields.items() if value is not None}
        fields.update(more.pop("fields", {}))
        fds = more.pop("fds", ())
        self.send(message(CALL, self.serial, fields, signature, values, **more), fds)
        return self.serial

    def call(self, *call, **more):
        """("return", values) or (the error's name, values)."""
        return self.reply(self.send_call(*call, **more))

    def reply(self, serial, limit=30):
        until = time.monotonic() + limit
        while True:
            kind, fields, values = self.next(until)
            if kind in (RETURN, ERROR) and fields.get(REPLY_SERIAL) == serial:
                return fields.get(ERROR_NAME, "return"), values
            self.others.append((kind, fields.get(REPLY_SERIAL)))

    def next(self, until):
        self.fill(16, until)
        endian = "<" if self.buffer[:1] == b"l" else ">"
        body, _, array_size = struct.unpack(endian + "III", self.buffer[4:16])
        head = 16 + array_size + (-array_size % 8)
        self.fill(head + body, until)
        reader = Reader(self.buffer[:head], endian)
        reader.at = 12
        fields = {code: value for code, value in reader.one("a(yv)")}
        values = Reader(self.buffer[head : head + body], endian).all(fields.get(SIGNATURE, ""))
        kind = self.buffer[1]
        self.buffer = self.buffer[head + body :]
        return kind, fields, values

    def fill(self, count, until):
        while len(self.buffer) < count:
            self.receive(until - time.monotonic())

    def receive(self, limit):
        if not select.select([self.socket], [], [], max(0, limit))[0]:
            raise TimeoutError("the bus said nothing more")
        try:
            part = self.socket.recv(1 << 16)
        except ConnectionResetError as error:
            raise Closed from error
        if not part:
            raise Closed
        self.buffer += part
