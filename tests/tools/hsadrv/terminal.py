"""Runs a command on a new terminal and prints its output. Usage: terminal.py [--interrupt TEXT] COMMAND…
With --interrupt, Ctrl-C is typed when TEXT has appeared. The exit status is the command's; 128 + N for signal N. Exit status 99: the
terminal was not left as it was; 98: it took longer than a minute."""
import os
import pty
import select
import sys
import termios
import time

arguments = sys.argv[1:]
interrupt = None
if arguments[0] == "--interrupt":
    interrupt, arguments = arguments[1].encode(), arguments[2:]
ours, theirs = pty.openpty()
termios.tcsetwinsize(theirs, (30, 100)) if hasattr(termios, "tcsetwinsize") else None
before = termios.tcgetattr(theirs)
child = os.fork()
if child == 0:
    os.close(ours)
    os.login_tty(theirs) if hasattr(os, "login_tty") else (os.setsid(), __import__("fcntl").ioctl(theirs, termios.TIOCSCTTY, 0),
                                                          [os.dup2(theirs, stream) for stream in (0, 1, 2)])
    os.execvp(arguments[0], arguments)
said, status, deadline = b"", None, time.monotonic() + 60
while True:
    if select.select([ours], [], [], 0.1)[0]:
        said += os.read(ours, 65536)
        if interrupt and interrupt in said:
            os.write(ours, b"\x03")
            interrupt = None
        continue
    if status is not None:
        break
    done, raw = os.waitpid(child, os.WNOHANG)
    if done:
        status = os.WEXITSTATUS(raw) if os.WIFEXITED(raw) else 128 + os.WTERMSIG(raw)
    elif time.monotonic() > deadline:
        os.kill(child, 9)
        status = 98
sys.stdout.buffer.write(said.replace(b"\r\n", b"\n"))
sys.stdout.flush()
sys.exit(status if termios.tcgetattr(theirs) == before else 99)
