"""Build a virtual environment from a lock; standard library only, since nothing else is there yet."""

import contextlib
import fcntl
import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV_LOCK = ROOT / "requirements" / "uv.txt"


def main(arguments: list[str]) -> None:
    """Bring the environment up to date with its lock, once, whoever else asks at the same time."""
    venv, lock = Path(arguments[0]).absolute(), ROOT / arguments[1]
    with exclusive(venv.with_name(f"{venv.name}.lock")):
        packages = digest(lock.read_bytes(), UV_LOCK.read_bytes())
        if not is_stamped(venv / "packages.stamp", packages):
            rebuild(venv, lock)
            (venv / "packages.stamp").write_text(packages)
        project = digest(project_settings())
        if not is_stamped(venv / "project.stamp", project):
            install_project(venv)
            (venv / "project.stamp").write_text(project)


@contextlib.contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Keep a second make out until this one is done; the kernel lets go when a process dies."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def is_stamped(stamp: Path, content: str) -> bool:
    """Say whether a step was completed for this content."""
    return stamp.exists() and stamp.read_text() == content


def digest(*contents: bytes) -> str:
    """Sum contents up."""
    return hashlib.sha256(b"\0".join(contents)).hexdigest()


def project_settings() -> bytes:
    """Give what decides how the project is installed; settings of linters do not."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return json.dumps([settings["build-system"], settings["project"], settings["tool"]["hatch"]]).encode()


def rebuild(venv: Path, lock: Path) -> None:
    """Make the environment from nothing, so that nothing half-installed survives."""
    if importlib.util.find_spec("ensurepip") is None:
        sys.exit(
            f"{sys.executable} has no ensurepip, so it cannot make a virtual environment. "
            "On Debian and Ubuntu: apt-get install python3-venv. "
            "Or name another interpreter: make PYTHON=/path/to/python3"
        )
    print(f"making {venv.name} from {lock.relative_to(ROOT)}", flush=True)
    if venv.exists():
        shutil.rmtree(venv)
    run(sys.executable, "-m", "venv", str(venv))
    pip = (str(venv / "bin" / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check")
    run(*pip, "--require-hashes", "--only-binary", ":all:", "-r", str(UV_LOCK))
    run(*uv(venv, "sync"), "--quiet", "--require-hashes", str(lock))


def install_project(venv: Path) -> None:
    """Install the project itself in place, with the build tools of the lock."""
    run(*uv(venv, "install"), "--quiet", "--no-deps", "--no-build-isolation", "--editable", str(ROOT))


def uv(venv: Path, command: str) -> tuple[str, ...]:
    """Give the start of a uv command for an environment."""
    return str(venv / "bin" / "uv"), "pip", command, "--python", str(venv / "bin" / "python")


def run(*command: str) -> None:
    """Run a command, ending with its status when it fails."""
    status = subprocess.run(command, check=False).returncode
    if status:
        sys.exit(f"failed with status {status}: {' '.join(command)}")


if __name__ == "__main__":
    main(sys.argv[1:])
