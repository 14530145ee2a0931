"""Types a page's commands into one shell on a terminal, as its reader does.

Standard input is a JSON list of steps, {"run": COMMAND} or {"write": PATH, "text": TEXT}; standard
output a JSON list with {"output": TEXT, "status": NUMBER} for each command. A question with [y/N] is
answered with yes.
"""

import json
import os
import pty
import re
import sys
import tempfile

PREAMBLE = """\
cd
# An opener ends before what it started does: wait until every accepted link has its outcome.
xdg-open() { command xdg-open "$@"; set -- $?; /usr/bin/python3 %(settle)s || return; return $1; }
returned() { return $1; }
status=0
"""


def main():
    steps = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        settle = os.path.join(os.path.dirname(os.path.abspath(__file__)), "settle.py")
        script = [PREAMBLE % {"settle": settle}]
        for number, step in enumerate(steps):
            text = os.path.join(folder, str(number))
            with open(text, "w") as file:
                file.write(step.get("text", step.get("run", "")) + ("" if "text" in step else "\n"))
            if "run" in step:
                # In a file of its own, so that a mistake in quoting ends with the command.
                script.append(f"returned $status; . {text}; status=$?; printf '\\001%d\\001' $status")
            else:
                path = '"$HOME"/' + step["write"]
                script.append(f'mkdir -p "$(dirname {path})"; cp {text} {path}')
        shell = os.path.join(folder, "shell")
        with open(shell, "w") as file:
            file.write("\n".join(script) + "\n")
        said = play(["/bin/bash", "--norc", shell])
    parts = re.split("\x01(-?\\d+)\x01", said.replace("\r\n", "\n"))
    answers = [
        {"output": output, "status": int(status)} for output, status in zip(parts[::2], parts[1::2])
    ]
    json.dump(answers, sys.stdout)


def play(command):
    """What the command shows on a terminal of its own."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    said, answered = b"", 0
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the last program that held the terminal has ended
            piece = b""
        if not piece:
            break
        said += piece
        if said.endswith(b"[y/N] ") and len(said) > answered:
            answered = len(said)
            os.write(terminal, b"y\n")
    os.waitpid(child, 0)
    return said.decode(errors="replace")


main()
