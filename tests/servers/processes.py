"""Processes of a private server: who runs them, which belong together, how they end."""

import os
import pwd
import random
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

# Below the range of outgoing connections: a client that retries while its server is down must not be given
# the server's own port, connect to itself and keep the server from coming back.
PORTS = range(20_000, 32_000)
PROC = Path("/proc")


class CommandFailed(RuntimeError):
    """A server's program failed; the message holds what it printed."""


def unprivileged() -> str | None:
    """Name an existing account that servers run as when the tests run as root; None when they do not."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def hand_over(path: Path) -> None:
    """Give a path to the account that servers run as."""
    account = unprivileged()
    if account is not None:
        entry = pwd.getpwnam(account)
        os.chown(path, entry.pw_uid, entry.pw_gid)


def run(*command: str | Path, cwd: Path, timeout: float = 60) -> str:
    """Run a program of a server as the unprivileged account, in an environment without a user's settings."""
    account = unprivileged()
    options: dict[str, Any] = {"cwd": cwd, "stdin": subprocess.DEVNULL, "timeout": timeout, "text": True}
    options["env"] = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
    if account is not None:
        options |= {"user": account, "group": pwd.getpwnam(account).pw_gid, "extra_groups": []}
    # A file, not a pipe: the server inherits it and would keep a pipe open for as long as it runs.
    with (cwd / "output.txt").open("w+") as output:
        done = subprocess.run(command, check=False, stdout=output, stderr=subprocess.STDOUT, **options)
        output.seek(0)
        text = output.read()
    if done.returncode:
        words = " ".join(str(word) for word in command)
        raise CommandFailed(f"{words} ended with {done.returncode}:\n{text}")
    return text


def free_port() -> int:
    """Find a loopback port that nobody listens on."""
    for port in random.SystemRandom().sample(PORTS, 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise CommandFailed(f"no free port among 100 of {PORTS.start} to {PORTS.stop}")


def is_alive(pid: int) -> bool:
    """Say whether a process runs; one that ended and was not waited for does not."""
    try:
        os.kill(pid, 0)
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except PermissionError:
        return True
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not PROC.exists()


def runs_from(pid: int, folder: Path) -> bool:
    """Say whether a process is a server of this folder and not another that was given the same number."""
    if not PROC.exists():
        command = subprocess.run(
            ["ps", "-o", "command=", "-p", str(pid)], check=False, capture_output=True, text=True
        ).stdout
    else:
        try:
            command = (PROC / str(pid) / "cmdline").read_text()
        except OSError:
            return False
    return str(folder) in command


def family(pid: int) -> list[int]:
    """List a process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for stat in PROC.glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    found = [pid]
    for member in found:
        found.extend(children.get(member, []))
    return found


def kill_family(pid: int) -> None:
    """Kill a process and all its descendants at once, and return when they are gone."""
    # Stopped first, so that no child is born between the listing and the end.
    signal_quietly(pid, signal.SIGSTOP)
    members = family(pid)
    for member in members:
        signal_quietly(member, signal.SIGKILL)
    wait_until_gone(members)


def signal_quietly(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process that may have ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def wait_until_gone(pids: list[int], timeout: float = 20) -> None:
    """Return when none of the processes runs."""
    deadline = time.monotonic() + timeout
    while any(is_alive(pid) for pid in pids):
        if time.monotonic() > deadline:
            raise CommandFailed(f"still running after {timeout} s: {[pid for pid in pids if is_alive(pid)]}")
        time.sleep(0.01)
