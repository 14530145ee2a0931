#!/usr/bin/python3
"""Does to a running deeplinkd what no friendly program does, and asks after each step whether the same
process still answers rightly.

Writes one JSON object a line: {"step": …, "answer": …, "expected": …, "alive": …}, then
{"steps": COUNT}. Names of steps given as arguments are the only ones that are done.
"""

import functools
import json
import os
import random
import sys
import time

from wire import (
    CALL, DESTINATION, ERROR, ERROR_NAME, FDS, INTERFACE, MEMBER, NO_REPLY, PATH, REPLY_SERIAL, RETURN,
    SENDER, SIGNAL, Closed, Connection, Writer, message,
)

NAME, OBJECT = "org.deeplinkd.Deeplinkd", "/org/deeplinkd/Deeplinkd"
DISPATCHER, APPLICATION = "org.deeplinkd.Dispatcher1", "org.freedesktop.Application"
PROPERTIES, PEER = "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.Peer"
INTROSPECTABLE = "org.freedesktop.DBus.Introspectable"
BUS = "org.freedesktop.DBus"
GOOD = "com.example.demo:greet?name=x"
ARGS, LIMITS = BUS + ".Error.InvalidArgs", BUS + ".Error.LimitsExceeded"
NO_METHOD, NO_INTERFACE = BUS + ".Error.UnknownMethod", BUS + ".Error.UnknownInterface"
NO_OBJECT, NO_PROPERTY = BUS + ".Error.UnknownObject", BUS + ".Error.UnknownProperty"
READ_ONLY = BUS + ".Error.PropertyReadOnly"
REFUSED = "org.deeplinkd.Error."
CLOSED = "closed"

STEPS = []


def step(name, expected, do):
    """do(connection) gives the answer, by name, or raises Closed; a tuple of answers allows each."""
    STEPS.append((name, expected, do))


def calls(name, expected, interface, member, signature="", *values, path=OBJECT, **more):
    step(name, expected, lambda c: c.call(NAME, path, interface, member, signature, *values, **more)[0])


def value(reply):
    """The name of the answer, and what it holds."""
    return reply[0] if reply[0] != "return" else reply[1][0]


def submit(name, expected, url, options=None):
    calls(name, expected, DISPATCHER, "Submit", "sa{sv}", url, options or {})


def in_variants(kind, inner, depth):
    for _ in range(depth):
        kind, inner = "v", (kind, inner)
    return kind, inner


# Types that no method takes, for each of them.
METHODS = {
    (DISPATCHER, "Open"): "sa{sv}", (DISPATCHER, "Submit"): "sa{sv}",
    (DISPATCHER, "Explain"): "sa{sv}", (DISPATCHER, "CanOpen"): "s", (DISPATCHER, "Cancel"): "t",
    (DISPATCHER, "RegisterScene"): "soas", (DISPATCHER, "ActivateScene"): "o",
    (DISPATCHER, "UnregisterScene"): "o", (DISPATCHER, "ListPlugins"): "",
    (DISPATCHER, "History"): "a{sv}", (DISPATCHER, "Follow"): "", (DISPATCHER, "Reload"): "",
    (APPLICATION, "Activate"): "a{sv}", (APPLICATION, "Open"): "asa{sv}",
    (APPLICATION, "ActivateAction"): "sava{sv}",
    (PROPERTIES, "Get"): "ss", (PROPERTIES, "GetAll"): "s", (PROPERTIES, "Set"): "ssv",
    (INTROSPECTABLE, "Introspect"): "",
}
SAMPLES = {
    "": (), "s": (GOOD,), "ss": (GOOD, GOOD), "o": ("/a",), "ay": (b"com",), "u": (7,), "v": (("s", GOOD),),
    "sa{ss}": (GOOD, {"timeout": "1"}), "a{sv}s": ({}, GOOD), "sa{sv}s": (GOOD, {}, GOOD),
    "as": ([GOOD],), "(sa{sv})": ((GOOD, {}),), "a{sv}": ({},), "sv": (GOOD, ("s", "x")),
}
for (interface, member), right in METHODS.items():
    for wrong, values in SAMPLES.items():
        if wrong != right:
            calls(f"{member} with ({wrong})", ARGS, interface, member, wrong, *values)

# Addresses.
calls("unknown member", NO_METHOD, DISPATCHER, "Close")
calls("empty-handed unknown interface", NO_INTERFACE, "org.deeplinkd.Dispatcher2", "Open")
calls("the bus's own interface", NO_INTERFACE, BUS, "Hello")
calls("an app's interface", NO_INTERFACE, "org.deeplinkd.Handler1", "Open", "s", GOOD)
calls("member of another interface", NO_METHOD, DISPATCHER, "Activate", "a{sv}", {})
calls("unknown path", NO_OBJECT, DISPATCHER, "CanOpen", "s", GOOD, path="/org/deeplinkd/Nothing")
calls("path below the object", NO_OBJECT, DISPATCHER, "CanOpen", "s", GOOD, path=OBJECT + "/a")
calls("path above the object", NO_INTERFACE, DISPATCHER, "CanOpen", "s", GOOD, path="/org")
calls("the root", NO_INTERFACE, DISPATCHER, "CanOpen", "s", GOOD, path="/")
calls("a path of 60 KB", NO_OBJECT, DISPATCHER, "CanOpen", "s", GOOD, path="/a" * 30_000)
calls("a member of 255 bytes", NO_METHOD, DISPATCHER, "M" * 255)
calls("an interface of 255 bytes", NO_INTERFACE, "a." + "b" * 253, "Open")
step("no interface", True, lambda c: value(c.call(NAME, OBJECT, None, "CanOpen", "s", GOOD)))
calls("no interface, unknown member", NO_METHOD, None, "Nothing")
calls("no interface, a member that two have", ARGS, None, "Open", "u", 1)
calls("header fields nobody knows", "return", PEER, "Ping", fields={200: ("x"), 201: "y"})


def by_unique_name(c):
    owner = c.call(BUS, "/org/freedesktop/DBus", BUS, "GetNameOwner", "s", NAME)[1][0]
    return value(c.call(owner, OBJECT, DISPATCHER, "CanOpen", "s", GOOD))


def under_a_false_name(c):
    return value(c.call(NAME, OBJECT, DISPATCHER, "CanOpen", "s", GOOD, fields={SENDER: ":1.0"}))


step("by its unique name", True, by_unique_name)
step("with another's name as sender", True, under_a_false_name)


# Calls that want no answer get none: the next one is the ping's.
def unanswered(interface, member, signature="", *values):
    def do(c):
        silent = c.send_call(NAME, OBJECT, interface, member, signature, *values, flags=NO_REPLY)
        c.call(NAME, OBJECT, PEER, "Ping")
        return "answered" if silent in [serial for _, serial in c.others] else "nothing"
    return do


step("CanOpen, no reply wanted", "nothing", unanswered(DISPATCHER, "CanOpen", "s", GOOD))
step("Open, no reply wanted", "nothing", unanswered(DISPATCHER, "Open", "sa{sv}", GOOD, {}))
step("Submit, no reply wanted", "nothing", unanswered(DISPATCHER, "Submit", "sa{sv}", GOOD, {}))
step("an error, no reply wanted", "nothing", unanswered(DISPATCHER, "Open", "u", 1))
step("a refusal, no reply wanted", "nothing", unanswered(DISPATCHER, "Open", "sa{sv}", "nonsense", {}))
step("Introspect, no reply wanted", "nothing", unanswered(INTROSPECTABLE, "Introspect"))

# URLs.
for name, code, url in [
    ("an empty URL", "Empty", ""), ("white space", "Empty", " \t\n "), ("no scheme", "NotAbsolute", "hello"),
    ("GIO's words", "NotUtf8", "[Invalid UTF-8]"), ("a newline", "ControlCharacter", GOOD + "\nx"),
    ("an escape sequence", "ControlCharacter", GOOD + "\x1b[2Jx"), ("a relative one", "NotAbsolute", "//a/b"),
    ("another's scheme", "SchemeNotRegistered", "javascript:alert(1)"),
    ("a scheme of 60 KB", "SchemeNotRegistered", "a" * 60_000 + ":x"),
    ("a host without end", "Malformed", "com.example.demo://[::1/greet"),
    ("a port too large", "Malformed", "com.example.demo://greet:99999"),
    ("credentials", "Credentials", "com.example.demo://me:secret@greet"),
    ("no route", "NoRoute", "com.example.demo:farewell"),
    ("65,000 slashes", "NoRoute", "com.example.demo:" + "/" * 65_000),
    ("30,000 dot segments", "NoRoute", "com.example.demo://greet" + "/.." * 20_000 + "/x"),
    ("65,000 percent signs", "NoRoute", "com.example.demo:" + "%" * 20_000),
    ("a name 8,000 times", "Parameter", "com.example.demo:greet?" + "name=x&" * 8_000),
    ("a name too long", "Parameter", "com.example.demo:greet?name=" + "x" * 101),
    ("a NUL in a name", "Parameter", "com.example.demo:greet?name=%00"),
    ("bytes that are no UTF-8 in a name", "Parameter", "com.example.demo:greet?name=%ff%fe"),
    ("a half surrogate in a name", "Parameter", "com.example.demo:greet?name=%ED%A0%80"),
    ("70 KB", "TooLong", GOOD + "x" * 70_000), ("1 MB", "TooLong", GOOD + "x" * 1_000_000),
    ("20 MB", "TooLong", GOOD + "x" * 20_000_000), ("20 MB of blanks", "TooLong", " " * 20_000_000),
]:
    submit(f"URL: {name}", REFUSED + code, url)
    step(f"CanOpen: {name}", False,
         lambda c, url=url: value(c.call(NAME, OBJECT, DISPATCHER, "CanOpen", "s", url)))
calls("URL: 20 MB explained", "org.freedesktop.DBus.Error.LimitsExceeded", DISPATCHER, "Explain", "sa{sv}", "x" * 20_000_000, {})
submit("URL: noncharacters", "return", "com.example.demo:greet?name=\uffff\U0010ffff")
submit("URL: 60,000 pairs", "return", "com.example.demo:greet?" + "a&" * 30_000)
submit("URL: a fragment of 60 KB", "return", GOOD + "#" * 60_000)

# Options.
for key, wrongs in {
    "activation-token": [("u", 1), ("ay", b"x"), ("o", "/x")], "desktop-startup-id": [("b", 1)],
    "parent-window": [("v", ("s", "x"))], "timeout": [("s", "1"), ("t", 1), ("i", -1), ("d", 1.0)],
    "request": [("ay", b"x"), ("as", ["x"])], "interactive": [("u", 1), ("s", "true")],
    "environment": [("s", "x"), ("as", ["DISPLAY=:0"]), ("a{sv}", {"DISPLAY": ("s", ":0")}), ("a(ss)", [])],
    "callback": [("s", "x"), ("y", 1)],
}.items():
    for wrong in wrongs:
        submit(f"option {key} with {wrong[0]}", ARGS, GOOD, {key: wrong})
for key in ("activation-token", "desktop-startup-id", "parent-window", "request"):
    submit(f"option {key} of 5,000 bytes", ARGS, GOOD, {key: ("s", "x" * 5_000)})
    submit(f"option {key}, empty", "return", GOOD, {key: ("s", "")})
submit("option of 20 MB that nobody knows", ("return", LIMITS), GOOD, {"unknown": ("ay", bytes(20_000_000))})
submit("options: 30,000 unknown ones", ("return", LIMITS), GOOD, {f"k{n}": ("y", 1) for n in range(30_000)})
submit("options: 200,000 unknown ones", LIMITS, GOOD, {f"k{n}": ("y", 1) for n in range(200_000)})
submit("options: odd keys", "return", GOOD, {"": ("y", 1), "é\u202e": ("y", 1), "k" * 100_000: ("y", 1)})
submit("environment: names that no sender may set", "return", GOOD,
       {"environment": ("a{ss}", {"LD_PRELOAD": "/tmp/x.so", "PATH": "/tmp", "": "", "A=B": "c"})})
submit("environment: a display of 200 KB", ARGS, GOOD, {"environment": ("a{ss}", {"DISPLAY": "x" * 200_000})})
step("a launch after that", "delivered", lambda c: c.call(
    NAME, OBJECT, DISPATCHER, "Open", "sa{sv}", "com.example.demo:echo?text=x", {})[1][1])


def timeouts(*values):
    entries = Writer()
    for value in values:
        entries.one("{sv}", ("timeout", value))
    return bytes(entries.bytes)


calls("options: a key twice, the last one wrong", ARGS, DISPATCHER, "Submit", "sa{sv}", GOOD,
      timeouts(("u", 1), ("s", "x")))
calls("options: a key 10,000 times", "return", DISPATCHER, "Submit", "sa{sv}", GOOD,
      timeouts(*[("u", 1)] * 10_000))
calls("Open that waits for nothing", "return", DISPATCHER, "Open", "sa{sv}", GOOD, {"timeout": ("u", 0)})
for depth in (1, 8, 31, 32, 60, 61):
    submit(f"a variant {depth} deep", ("return", LIMITS), GOOD, {"x": in_variants("s", "x", depth)})
submit("a variant 70 deep", CLOSED, GOOD, {"x": in_variants("s", "x", 70)})
submit("a token 30 variants deep", ARGS, GOOD, {"activation-token": in_variants("s", "x", 30)})
submit("arrays 30 deep", "return", GOOD, {"x": ("a" * 30 + "s", [])})
submit("structures 30 deep", ("return", LIMITS), GOOD,
       {"x": ("(" * 30 + "s" + ")" * 30, functools.reduce(lambda inner, _: (inner,), range(30), "x"))})

# Application.Open.
for name, expected, uris in [
    ("none", "return", []), ("bad ones", "return", ["", "x", "\n", "javascript:x"]),
    ("1,024", "return", ["com.example.demo:farewell"] * 1_024), ("1,025", LIMITS, [GOOD] * 1_025),
    ("50,000", LIMITS, [GOOD] * 50_000), ("3,000,000 empty ones", LIMITS, (bytes(8) * 3_000_000)[:-3]),
]:
    calls(f"Application.Open: {name}", expected, APPLICATION, "Open", "asa{sv}", uris, {})
calls("ActivateAction: any", ARGS, APPLICATION, "ActivateAction", "sava{sv}", "quit\x1b" * 1_000, [], {})
calls("Activate: 20 MB of platform data", ("return", LIMITS), APPLICATION, "Activate", "a{sv}",
      {"x": ("ay", bytes(20_000_000))})

# Deliveries, scenes, history.
for number in (0, 1, 2**64 - 1):
    calls(f"Cancel of {number}", ARGS, DISPATCHER, "Cancel", "t", number)
for name, expected, plugin, routes in [
    ("of no plugin", ARGS, "", []), ("of a plugin that is not there", ARGS, "com.example.nobody", []),
    ("of a plugin with an odd name", ARGS, "../\x1b[2J" * 9_000, []),
    ("of a plugin without a bus name", BUS + ".Error.AccessDenied", "com.example.demo", ["greet"]),
    ("for a route that is not there", ARGS, "com.example.demo", ["\x1b[2J"]),
    ("for 200,000 routes", LIMITS, "com.example.demo", ["greet"] * 200_000),
]:
    calls(f"RegisterScene {name}", expected, DISPATCHER, "RegisterScene", "soas", plugin, "/a", routes)
calls("ActivateScene of none", ARGS, DISPATCHER, "ActivateScene", "o", "/a" * 20_000)
calls("UnregisterScene of none", ARGS, DISPATCHER, "UnregisterScene", "o", "/")
for name, expected, given in [
    ("an unknown key", ARGS, {"\x1b[2J": ("s", "x")}), ("a wrong type", ARGS, {"limit": ("s", "1")}),
    ("a limit of 0", "return", {"limit": ("u", 0)}), ("every entry", "return", {"limit": ("u", 2**32 - 1)}),
    ("a time that is no number", "return", {"since": ("d", float("nan"))}),
    ("a time without end", "return", {"since": ("d", float("-inf"))}),
    ("SQL", "return", {"scheme": ("s", "' OR 1=1; DROP TABLE links; --")}),
    ("a plugin of 1 MB", "return", {"plugin": ("s", "%" * 1_000_000)}),
    ("the smallest number", "return", {"number": ("x", -(2**63))}),
]:
    calls(f"History with {name}", expected, DISPATCHER, "History", "a{sv}", given)


def leave_following(c):
    # At odd moments: the daemon looks at a follower in several steps, and may lose it after each.
    moments = random.Random(1)
    for _ in range(1_000):
        other = Connection()
        other.send_call(NAME, OBJECT, DISPATCHER, "Follow")
        until = time.perf_counter() + moments.random() * 0.0015
        while time.perf_counter() < until:
            pass
        other.close()
    return c.call(NAME, OBJECT, DISPATCHER, "Follow")[0]


def reload_often(c):
    for _ in range(300):
        c.send_call(NAME, OBJECT, DISPATCHER, "Reload", flags=NO_REPLY)
    return c.call(NAME, OBJECT, DISPATCHER, "Reload")[0]


step("1,000 followers that leave, then one that stays", "return", leave_following)
step("300 reloads", "return", reload_often)

# Properties, introspection, peer.
for name in ("", " ", "version", "../Version", "Version\n", "é" * 50_000):
    calls(f"Get of {name[:12]!r}", NO_PROPERTY, PROPERTIES, "Get", "ss", DISPATCHER, name)
calls("Get of an unknown interface", NO_INTERFACE, PROPERTIES, "Get", "ss", "a b\x01" * 9_000, "Version")
calls("Get without an interface", "return", PROPERTIES, "Get", "ss", "", "Version")
calls("GetAll of an unknown interface", NO_INTERFACE, PROPERTIES, "GetAll", "s", "x")
calls("GetAll of any", "return", PROPERTIES, "GetAll", "s", "")
calls("Set of one that can be read", READ_ONLY, PROPERTIES, "Set", "ssv", DISPATCHER, "Durable", ("b", 1))
calls("Set of an unknown one", NO_PROPERTY, PROPERTIES, "Set", "ssv", DISPATCHER, "Nothing", ("b", 1))
for path, expected in {"/": "return", "/org": "return", "/nothing": NO_OBJECT, OBJECT + "/x": NO_OBJECT}.items():
    calls(f"Introspect of {path}", expected, INTROSPECTABLE, "Introspect", path=path)
calls("Ping of any path", "return", PEER, "Ping", path="/any/path")
calls("GetMachineId", "return", PEER, "GetMachineId")
calls("Peer, unknown member", (NO_METHOD, NO_INTERFACE), PEER, "Pong")

# Descriptors.
def with_descriptors(count, signature, *values):
    def do(c):
        ends = [end for _ in range(count) for end in os.pipe()][:count]
        try:
            return c.call(NAME, OBJECT, DISPATCHER, "Submit", signature, *values, fds=ends,
                          fields={FDS: count})[0]
        finally:
            for end in ends:
                os.close(end)
    return do


step("descriptors beside the arguments", "return", with_descriptors(10, "sa{sv}", GOOD, {}))
step("a descriptor as an option", "return", with_descriptors(1, "sa{sv}", GOOD, {"x": ("h", 0)}))
step("a descriptor as the token", ARGS, with_descriptors(1, "sa{sv}", GOOD, {"activation-token": ("h", 0)}))
step("a descriptor as the URL", ARGS, with_descriptors(1, "h", 0))
step("a descriptor that was not sent", CLOSED, lambda c: c.call(
    NAME, OBJECT, DISPATCHER, "Submit", "sa{sv}", GOOD, {}, fields={FDS: 3})[0])


# Signals and answers that nobody asked for.
def sends(kind, fields, signature="", *values, times=1):
    def do(c):
        for _ in range(times):
            c.serial += 1
            c.send(message(kind, c.serial, {DESTINATION: NAME, **fields}, signature, values))
        return c.call(NAME, OBJECT, PEER, "Ping")[0]
    return do


def signal(name, expected, interface, member, signature="", *values, path=OBJECT, **more):
    fields = {PATH: path, INTERFACE: interface, MEMBER: member}
    step(f"signal: {name}", expected, sends(SIGNAL, fields, signature, *values, **more))


signal("its own", "return", DISPATCHER, "DeliveryChanged", "tsa{sv}", 1, "delivered", {})
signal("its own with other types", "return", DISPATCHER, "DeliveryChanged", "u", 1)
signal("a name that changed hands", "return", BUS, "NameOwnerChanged", "sss", NAME, ":1.0", "",
       path="/org/freedesktop/DBus")
signal("a lost name", "return", BUS, "NameLost", "s", NAME, path="/org/freedesktop/DBus")
signal("the end of the connection, as libdbus tells itself", CLOSED, BUS + ".Local", "Disconnected")
signal("the same at libdbus' own path", CLOSED, "a.b", "Disconnected", path="/org/freedesktop/DBus/Local")
signal("10,000 unknown ones", "return", "a.b", "C", "s", "x", times=10_000)
signal("20 MB", "return", "a.b", "C", "ay", bytes(20_000_000))
step("signal without interface", CLOSED, sends(SIGNAL, {PATH: OBJECT, MEMBER: "X"}))
for serial in (1, 2, 3, 4, 5, 0xFFFFFFFF):
    step(f"an answer to call {serial}", "return", sends(RETURN, {REPLY_SERIAL: serial}, "s", "x"))
    step(f"an error for call {serial}", "return",
         sends(ERROR, {REPLY_SERIAL: serial, ERROR_NAME: BUS + ".Error.NameHasNoOwner"}, "u", 7))
step("1,000 answers", "return", sends(RETURN, {REPLY_SERIAL: 2}, "u", 1, times=1_000))
step("an answer to call 0", CLOSED, sends(RETURN, {REPLY_SERIAL: 0}))
step("an answer to no call", CLOSED, sends(RETURN, {}))
step("an error without a name", CLOSED, sends(ERROR, {REPLY_SERIAL: 1}))
step("a message of type 5", "return", sends(5, {PATH: OBJECT, MEMBER: "X"}))
step("a message of type 0", CLOSED, sends(0, {PATH: OBJECT, MEMBER: "X"}))


# Senders that behave badly.
def leave_at_once(count, member):
    def do(c):
        for _ in range(count):
            other = Connection()
            other.send_call(NAME, OBJECT, DISPATCHER, member, "sa{sv}", GOOD, {})
            other.close()
        return "done"
    return do


def flood(count, member, signature, *values):
    def do(c):
        other = Connection()
        other.socket.settimeout(60)
        for _ in range(count):
            other.send_call(NAME, OBJECT, DISPATCHER, member, signature, *values)
        return "done"  # closed unread when it is collected
    return do


step("a sender that leaves after Open", "done", leave_at_once(1, "Open"))
step("200 senders that leave after Open", "done", leave_at_once(200, "Open"))
step("200 senders that leave after Submit", "done", leave_at_once(200, "Submit"))
step("5,000 Submits, answers unread", "done", flood(5_000, "Submit", "sa{sv}", GOOD, {}))
step("5,000 Opens, answers unread", "done", flood(5_000, "Open", "sa{sv}", GOOD, {}))
step("5,000 refusals, answers unread", "done", flood(5_000, "Submit", "sa{sv}", "nonsense", {}))
step("5,000 introspections, answers unread", "done", lambda c: [
    c.send_call(NAME, OBJECT, INTROSPECTABLE, "Introspect") for _ in range(5_000)] and "done")


# Names.
def request_name(flags):
    def do(c):
        bus = (BUS, "/org/freedesktop/DBus", BUS)
        answer = c.call(*bus, "RequestName", "su", NAME, flags)[1][0]
        c.call(*bus, "ReleaseName", "s", NAME)
        return answer
    return do


step("somebody replaces it", 2, request_name(2))
step("somebody replaces it, without queueing", 3, request_name(6))
step("somebody waits for its name", 2, request_name(1))


def eavesdrop(c):
    rule = "eavesdrop=true,destination='org.deeplinkd.Deeplinkd'"
    c.call(BUS, "/org/freedesktop/DBus", BUS, "AddMatch", "s", rule)
    return value(c.call(NAME, OBJECT, DISPATCHER, "CanOpen", "s", GOOD))


step("an eavesdropper", True, eavesdrop)


# What the bus ends a connection for, so that the daemon never sees it.
def raw(name, expected, make):
    def do(c):
        c.serial += 1
        c.send(make(c.serial))
        return c.reply(c.serial)[0]
    step(f"raw: {name}", expected, do)


FIELDS = {PATH: OBJECT, INTERFACE: DISPATCHER, MEMBER: "CanOpen", DESTINATION: NAME}


def can_open(serial, body=None, signature="s", fields=FIELDS, **more):
    return message(CALL, serial, fields, signature, (GOOD,), body=body, **more)


def changed(at, new):
    def make(serial):
        data = bytearray(can_open(serial))
        data[at : at + len(new)] = new
        return bytes(data)
    return make


noise = random.Random(1)
raw("in the other byte order", "return", lambda serial: can_open(serial, endian=">"))
raw("noise", CLOSED, lambda _: noise.randbytes(4096))
raw("zeros", CLOSED, lambda _: bytes(4096))
raw("a byte order nobody has", CLOSED, changed(0, b"X"))
raw("protocol version 9", CLOSED, changed(3, b"\x09"))
raw("a body of 4 GB", CLOSED, changed(4, b"\xff\xff\xff\xff"))
raw("serial 0", CLOSED, changed(8, bytes(4)))
raw("header fields of 4 GB", CLOSED, changed(12, b"\xff\xff\xff\xff"))
raw("a URL that is not UTF-8", CLOSED, lambda serial: can_open(serial, b"\2\0\0\0\xff\xfe\0"))
raw("a URL with a NUL", CLOSED, lambda serial: can_open(serial, b"\3\0\0\0a\0b\0"))
raw("a URL without its end", CLOSED, lambda serial: can_open(serial, b"\3\0\0\0abc"))
raw("a URL longer than the message", CLOSED, lambda serial: can_open(serial, b"\xff\0\0\0abc\0"))
raw("a boolean of 7", CLOSED, lambda serial: can_open(serial, b"\7\0\0\0", "b"))
raw("a path that is none", CLOSED, lambda serial: can_open(serial, fields={**FIELDS, PATH: "a//b"}))
raw("a path that ends in a slash", CLOSED, lambda s: can_open(s, fields={**FIELDS, PATH: OBJECT + "/"}))
raw("a member with a dot", CLOSED, lambda serial: can_open(serial, fields={**FIELDS, MEMBER: "a.b"}))
raw("an interface without a dot", CLOSED, lambda s: can_open(s, fields={**FIELDS, INTERFACE: "a"}))
raw("a member of 256 bytes", CLOSED, lambda s: can_open(s, fields={**FIELDS, MEMBER: "M" * 256}))
raw("no path", CLOSED, lambda s: can_open(s, fields={k: v for k, v in FIELDS.items() if k != PATH}))
raw("no member", CLOSED, lambda s: can_open(s, fields={k: v for k, v in FIELDS.items() if k != MEMBER}))
raw("a signature that is none", CLOSED, lambda serial: can_open(serial, b"abcd", "a"))
raw("a body that its signature does not tell", CLOSED, lambda serial: can_open(serial, bytes(64), "y"))
raw("arrays 40 deep", CLOSED, lambda serial: can_open(serial, bytes(4), "a" * 40 + "s"))
raw("an array of 100 MB that is not there", CLOSED, lambda s: can_open(s, b"\0\0\0\6", "ay"))


def drip(c):
    c.serial += 1
    for byte in can_open(c.serial):
        c.send(bytes([byte]))
    return value(c.reply(c.serial))


def half_a_message(c):
    c.send(can_open(c.serial)[:40])
    c.close()
    return "done"


def without_greeting(data):
    def do(_):
        other = Connection(greet=False)
        other.send(data)
        other.fill(1 << 30, time.monotonic() + 30)
    return do


step("raw: byte after byte", True, drip)
step("raw: half a message, then the end", "done", half_a_message)
step("raw: no greeting", CLOSED, without_greeting(b"GET / HTTP/1.1\r\n\r\n" + bytes(4096)))
step("raw: a message before Hello", CLOSED, lambda _: unregistered())


def unregistered():
    other = Connection(greet=False)
    other.authenticate()
    return other.call(NAME, OBJECT, DISPATCHER, "CanOpen", "s", GOOD)[0]


class Watcher:
    """Asks, on a connection of its own, whether the daemon is the same and answers rightly."""

    def __init__(self):
        self.bus = Connection()
        self.bus.call(NAME, OBJECT, PEER, "Ping")  # starts the daemon
        self.first = self.identity()
        self.descriptors = self.descriptor_count()

    def ask(self, member):
        return self.bus.call(BUS, "/org/freedesktop/DBus", BUS, member, "s", NAME)[1][0]

    def identity(self):
        return self.ask("GetNameOwner"), self.ask("GetConnectionUnixProcessID")

    def descriptor_count(self):
        return len(os.listdir(f"/proc/{self.first[1]}/fd"))

    def memory(self):
        """The resident set, in KiB."""
        with open(f"/proc/{self.first[1]}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))

    def alive(self):
        good = [self.bus.call(NAME, OBJECT, DISPATCHER, "CanOpen", "s", url) for url in (GOOD, "x:y")]
        return self.identity() == self.first and good == [("return", [True]), ("return", [False])]


def main():
    watcher, count = Watcher(), 0
    for name, expected, do in STEPS:
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        count += 1
        connection, answer, alive, started = Connection(), None, False, time.monotonic()
        try:
            answer = do(connection)
        except Closed:
            answer = CLOSED
        except Exception as error:  # told with the step, and the next one is done all the same
            answer = f"{type(error).__name__}: {error}"
        finally:
            connection.close()
        done = time.monotonic()
        try:
            alive = watcher.alive()
        except (Closed, TimeoutError, IndexError) as error:
            answer = f"{answer}, then {type(error).__name__}: {error}"
        allowed = expected if isinstance(expected, tuple) else (expected,)
        print(json.dumps({
            "step": name, "answer": str(answer), "expected": " or ".join(map(str, allowed)), "alive": alive,
            "right": answer in allowed and type(answer) in map(type, allowed),
            "seconds": round(done - started, 2), "until_alive": round(time.monotonic() - done, 2),
        }), flush=True)
        if not alive:
            sys.exit(1)
    print(json.dumps({
        "steps": count, "descriptors": watcher.descriptor_count() - watcher.descriptors,
        "memory": watcher.memory(),
    }))


if __name__ == "__main__":
    main()
