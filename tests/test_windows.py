"""Every module can be imported where the operating system is not POSIX: names that Windows lacks are hidden."""

from __future__ import annotations

import subprocess
import sys

import pytest

# The names are hidden from fogplay alone: other packages know which system they are on.
PROGRAM = """
import builtins, importlib, pkgutil, sys, types

MODULES = {"fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "readline", "syslog"}
NAMES = {
    "select": {"poll", "epoll", "kqueue", "POLLIN", "POLLOUT", "POLLHUP", "POLLERR", "devpoll"},
    "signal": {"SIGUSR1", "SIGUSR2", "SIGALRM", "SIGKILL", "SIGHUP", "SIGPIPE", "SIGCHLD", "SIGQUIT", "SIGSTOP",
               "SIGCONT", "SIGXCPU", "SIGXFSZ", "setitimer", "alarm", "pause", "ITIMER_REAL", "pthread_sigmask"},
    "os": {"fork", "forkpty", "getuid", "geteuid", "getgid", "killpg", "setsid", "getpgid", "setpgid", "getpgrp",
           "nice", "sched_getaffinity", "sched_setaffinity", "sched_yield", "mkfifo", "uname", "wait4", "getloadavg",
           "O_NONBLOCK", "O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC", "fchmod", "chown", "getrusage", "posix_spawn"},
    "socket": {"AF_UNIX", "SO_REUSEPORT", "socketpair", "MSG_DONTWAIT"},
    "errno": {"EDQUOT"},
    "time": {"tzset", "clock_gettime", "pthread_getcpuclockid"},
}
usual, hidden = builtins.__import__, {}

def ours(space):
    return bool(space) and str(space.get("__name__", "")).startswith("fogplay")

def without(name):
    if name not in hidden:
        made = types.ModuleType(name)
        kept = {key: value for key, value in vars(sys.modules[name]).items() if key not in NAMES[name]}
        made.__dict__.update(kept)
        hidden[name] = made
    return hidden[name]

def guarded(name, globals=None, locals=None, fromlist=(), level=0):
    if level == 0 and ours(globals):
        if name.partition(".")[0] in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if name in NAMES:
            usual(name)
            return without(name)
    return usual(name, globals, locals, fromlist, level)

builtins.__import__ = guarded
import fogplay
failed, count = [], 0
for info in pkgutil.walk_packages(fogplay.__path__, "fogplay."):
    if info.name.endswith("__main__") or info.name.startswith(tuple(sys.argv[1:])):
        continue
    try:
        importlib.import_module(info.name)
        count += 1
    except (ImportError, fogplay.FogplayError) as error:
        cause = error if isinstance(error, ImportError) else error.__cause__
        root = str(getattr(cause, "name", "")).partition(".")[0]
        if not isinstance(cause, ImportError) or root in MODULES or root in NAMES or root == "fogplay":
            failed.append(f"{info.name}: {error}")
    except AttributeError as error:
        failed.append(f"{info.name}: {error}")
print(count, *failed, sep="\\n")
"""


def imported(*left_out: str) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *left_out], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    count, *failed = done.stdout.split("\n", 1)[0], *done.stdout.splitlines()[1:]
    assert not failed, "\n".join(failed)
    assert int(count) > 200


def test_modules_can_be_imported_without_posix() -> None:
    imported("fogplay.nets", "fogplay.web", "fogplay.bridges")  # those import large packages


@pytest.mark.slow
def test_all_modules_can_be_imported_without_posix() -> None:
    imported()
