"""What both drivers share: the page with the links, and the talk with the test that started them.

The test reads one JSON object a line: {"event": "ready"}, then for each link
{"event": "clicked", "href": …}; then it waits for what it expects of the link and writes a line
to standard input, whatever is in it, for the next. {"event": "done"} is the last, or
{"event": "error", "message": …} with exit status 1.
"""

import argparse
import contextlib
import http.server
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import urllib.parse

PAGE = b"""<!doctype html><meta charset="utf-8"><title>links</title>
<a id="link" style="position:absolute;left:20px;top:20px;width:200px;height:60px">link</a>
<script>
  window.clicks = 0
  document.getElementById('link').addEventListener('click', () => { window.clicks += 1 })
  // A link that is set before two frames were drawn can miss its click.
  window.show = href => new Promise(drawn => {
    document.getElementById('link').href = href
    requestAnimationFrame(() => requestAnimationFrame(() => drawn(window.clicks)))
  })
</script>"""


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def page_server():
    """Yields the page's origin, on a port of the loopback interface that was free."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


def end(process):
    """Ends a browser and the processes it started, which share its session."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(Exception):
            process.wait(timeout=10)


def tell(event, **facts):
    print(json.dumps({"event": event, **facts}), flush=True)


def click_until_seen(show, click, clicks, limit=10):
    """Clicks the link until the page has seen it: browsers drop one now and then at the start."""
    before = show()
    until = time.monotonic() + limit
    tries = 0
    while time.monotonic() < until:
        click()
        tries += 1
        heard = time.monotonic() + 1
        while time.monotonic() < heard:
            if clicks() > before:
                return tries
    raise TimeoutError(f"the page saw no click within {limit} s")


def main(browser):
    """browser(origin, schemes, profile) is a context that yields click(href) -> tries."""
    parser = argparse.ArgumentParser(description="clicks links in a real browser")
    parser.add_argument("--scheme", action="append", required=True, help="allowed without a question")
    parser.add_argument("--href", action="append", required=True, help="clicked, one after the other")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    profile = tempfile.mkdtemp(prefix="deeplink-browser-")
    started = time.monotonic()
    try:
        with page_server() as origin, browser(origin, options.scheme, profile) as click:
            tell("ready", seconds=round(time.monotonic() - started, 2))
            for href in options.href:
                tries = click(href)
                tell("clicked", href=href, tries=tries)
                if not sys.stdin.readline():
                    break
            tell("done")
    except (OSError, RuntimeError, TimeoutError) as error:
        tell("error", message=str(error))
        sys.exit(1)
    finally:
        shutil.rmtree(profile, ignore_errors=True)
