"""What zsh makes of a line when Tab is pressed. Usage: zsh.py FOLDER-WITH-_hsadrv HSADRV LINE"""
import os
import pty
import select
import sys
import time

folder, hsadrv, line = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.environ["PATH"] = os.path.dirname(hsadrv) + ":" + os.environ["PATH"]
    os.execvp("zsh", ["zsh", "-f", "-i"])


def read_until(text, seconds=10):
    said, deadline = b"", time.monotonic() + seconds
    while time.monotonic() < deadline and text not in said:
        if select.select([terminal], [], [], 0.1)[0]:
            said += os.read(terminal, 65536)
    return said.decode(errors="replace")


os.write(terminal, f"fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D; PS1=; echo rea''dy\n".encode())
read_until(b"ready\r\n")
os.write(terminal, line.encode() + b"\t")
time.sleep(1)
os.write(terminal, b" --END\x01echo \n")  # Ctrl-A: the completed line becomes the arguments of echo
print(read_until(b"--END\r\n"))
os.kill(child, 9)
