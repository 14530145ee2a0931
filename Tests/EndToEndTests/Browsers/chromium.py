#!/usr/bin/python3
"""Clicks links in Chromium, over its debugging pipe: JSON objects that end in a NUL."""

import contextlib
import json
import os
import select
import subprocess
import time

import page

LIMIT = 30


class Pipe:
    """Commands go in at the browser's descriptor 3, answers and events come out at 4."""

    def __init__(self, write, read):
        self.write, self.read = write, read
        self.buffer, self.count, self.session = b"", 0, None

    def call(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + LIMIT
        while True:
            answer = self.receive(until, method)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def receive(self, until, method):
        while b"\0" not in self.buffer:
            left = max(0, until - time.monotonic())
            if not select.select([self.read], [], [], left)[0]:
                raise TimeoutError(f"chromium did not answer {method} within {LIMIT} s")
            part = os.read(self.read, 65536)
            if not part:
                raise RuntimeError(f"chromium ended during {method}")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def evaluate(self, expression):
        answer = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return answer["result"].get("value")


def allow(origin, schemes, profile):
    """What a person's tick at "always allow" leaves in the profile."""
    pairs = {origin: {scheme: True for scheme in schemes}}
    os.makedirs(f"{profile}/Default")
    with open(f"{profile}/Default/Preferences", "w", encoding="utf-8") as file:
        json.dump({"protocol_handler": {"allowed_origin_protocol_pairs": pairs}}, file)


@contextlib.contextmanager
def chromium(origin, schemes, profile):
    allow(origin, schemes, profile)
    command_read, command_write = os.pipe()
    answer_read, answer_write = os.pipe()
    arguments = [
        "chromium",
        "--remote-debugging-pipe",
        f"--user-data-dir={profile}",
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--password-store=basic",
        "about:blank",
    ]
    if os.geteuid() == 0:
        arguments.insert(1, "--no-sandbox")

    def descriptors():
        # First out of the way: one of the four may be 3 or 4 itself.
        read, write = os.dup(command_read), os.dup(answer_write)
        while read < 5 or write < 5:
            read, write = os.dup(read), os.dup(write)
        os.dup2(read, 3)
        os.dup2(write, 4)

    process = subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=descriptors,
        pass_fds=(3, 4),
        start_new_session=True,
    )
    os.close(command_read)
    os.close(answer_write)
    try:
        pipe = Pipe(command_write, answer_read)
        target = pipe.call("Target.createTarget", url=origin)["targetId"]
        pipe.session = pipe.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        until = time.monotonic() + LIMIT
        while pipe.evaluate("typeof window.show") != "function":
            if time.monotonic() > until:
                raise TimeoutError("the page did not load")

        def press():
            for kind in ("mousePressed", "mouseReleased"):
                pipe.call("Input.dispatchMouseEvent", type=kind, x=60, y=40, button="left", clickCount=1)

        yield lambda href: page.click_until_seen(
            lambda: pipe.evaluate(f"show({json.dumps(href)})"),
            press,
            lambda: pipe.evaluate("window.clicks"),
        )
    finally:
        page.end(process)


if __name__ == "__main__":
    page.main(chromium)
