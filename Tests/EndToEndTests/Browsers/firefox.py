#!/usr/bin/python3
"""Clicks links in Firefox, over Marionette: `LENGTH:JSON` on a TCP connection."""

import contextlib
import json
import os
import socket
import subprocess
import time

import page

LIMIT = 60


class Marionette:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=LIMIT)
        self.stream = self.socket.makefile("rb")
        self.count = 0
        self.receive()

    def receive(self):
        length = b""
        while (byte := self.stream.read(1)) != b":":
            if not byte:
                raise RuntimeError("firefox ended")
            length += byte
        return json.loads(self.stream.read(int(length)))

    def call(self, method, **params):
        self.count += 1
        message = json.dumps([0, self.count, method, params]).encode()
        self.socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(f"{method}: {error['message']}")
        return result

    def evaluate(self, script, *arguments):
        return self.call("WebDriver:ExecuteScript", script=script, args=list(arguments))["value"]


def allow(schemes, profile):
    """No first-run pages, and what a person's tick at "always allow" leaves in the profile."""
    preferences = {
        "marionette.port": 0,
        "browser.shell.checkDefaultBrowser": False,
        "browser.startup.homepage_override.mstone": "ignore",
        "datareporting.policy.dataSubmissionEnabled": False,
        "toolkit.telemetry.reportingpolicy.firstRun": False,
        "app.update.disabledForTesting": True,
        "network.captive-portal-service.enabled": False,
        "network.connectivity-service.enabled": False,
        **{f"network.protocol-handler.external.{scheme}": True for scheme in schemes},
    }
    with open(f"{profile}/user.js", "w", encoding="utf-8") as file:
        for name, value in preferences.items():
            file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
    handlers = {
        "defaultHandlersVersion": {},
        "mimeTypes": {},
        # 4: the system's default application
        "schemes": {scheme: {"action": 4, "ask": False} for scheme in schemes},
    }
    with open(f"{profile}/handlers.json", "w", encoding="utf-8") as file:
        json.dump(handlers, file)


def port(profile, process):
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        with contextlib.suppress(FileNotFoundError, ValueError):
            with open(f"{profile}/MarionetteActivePort", encoding="utf-8") as file:
                return int(file.read())
        with contextlib.suppress(subprocess.TimeoutExpired):
            raise RuntimeError(f"firefox ended with exit status {process.wait(0.05)}")
    raise TimeoutError(f"firefox was not ready within {LIMIT} s")


@contextlib.contextmanager
def firefox(origin, schemes, profile):
    allow(schemes, profile)
    arguments = ["firefox-esr", "--marionette", "--remote-allow-system-access", "--no-remote"]
    process = subprocess.Popen(
        [*arguments, "--profile", profile, "about:blank"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        browser = Marionette(port(profile, process))
        browser.call("WebDriver:NewSession", capabilities={})
        browser.call("WebDriver:Navigate", url=origin)

        def press():
            pointer = {
                "type": "pointer",
                "id": "mouse",
                "parameters": {"pointerType": "mouse"},
                "actions": [
                    {"type": "pointerMove", "duration": 0, "x": 60, "y": 40},
                    {"type": "pointerDown", "button": 0},
                    {"type": "pointerUp", "button": 0},
                ],
            }
            browser.call("WebDriver:PerformActions", actions=[pointer])

        yield lambda href: page.click_until_seen(
            lambda: browser.evaluate("return window.show(arguments[0])", href),
            press,
            lambda: browser.evaluate("return window.clicks"),
        )
    finally:
        page.end(process)


if __name__ == "__main__":
    page.main(firefox)
