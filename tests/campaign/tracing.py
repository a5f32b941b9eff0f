"""Kill a process at the n-th system call with which it changes a folder, for any n.

The process is forked from this one, so that the imports are paid for once. A seccomp filter stops it at the calls that
can change a file, and nowhere else; ptrace then tells this process which call it is, and on what. Linux only, like the
filter; neither a compiler nor strace is needed.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_LIBC.ptrace.restype = ctypes.c_long

_TRACE_ME, _CONTINUE, _SET_OPTIONS, _SYSCALL_INFO = 0, 7, 0x4200, 0x420E
_FOLLOW_FORK, _FOLLOW_VFORK, _FOLLOW_CLONE, _STOP_AT_FILTER, _KILL_WITH_ME = 2, 4, 8, 1 << 7, 1 << 20
_OPTIONS = _FOLLOW_FORK | _FOLLOW_VFORK | _FOLLOW_CLONE | _STOP_AT_FILTER | _KILL_WITH_ME
_FILTER_STOP = signal.SIGTRAP | (7 << 8)
_ALL_THREADS = 0x40000000  # __WALL
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER_MODE = 38, 22, 2
_ALLOW, _TRACE = 0x7FFF0000, 0x7FF00000
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_AT_CWD = -100


@dataclass(frozen=True)
class _Call:
    """A system call: its number on x86-64 and on ARM64, and which arguments name what it changes."""

    x86: int | None
    arm: int | None
    file: int | None = None  # an open file
    paths: tuple[tuple[int | None, int], ...] = ()  # (folder, path)
    flags: int | None = None  # of opening: only if it creates or empties the file


_CALLS = (
    *(_Call(x86, arm, file=0) for x86, arm in ((1, 64), (18, 68), (20, 66), (296, 70), (77, 46), (285, 47), (91, 52))),
    _Call(40, 71, file=0),
    _Call(326, 285, file=2),
    _Call(2, None, paths=((None, 0),), flags=1),
    _Call(257, 56, paths=((0, 1),), flags=2),
    *(_Call(number, None, paths=((None, 0),)) for number in (85, 83, 84, 87, 76, 90)),
    *(_Call(x86, arm, paths=((0, 1),)) for x86, arm in ((258, 34), (263, 35), (268, 53))),
    *(_Call(number, None, paths=((None, 0), (None, 1))) for number in (82, 86)),
    *(_Call(x86, arm, paths=((0, 1), (2, 3))) for x86, arm in ((264, 38), (316, 276), (265, 37))),
    _Call(88, None, paths=((None, 1),)),
    _Call(266, 36, paths=((1, 2),)),
)
_NUMBERS = {
    number: call for call in _CALLS if (number := call.x86 if platform.machine() == "x86_64" else call.arm) is not None
}


@dataclass(frozen=True)
class Ending:
    """How a traced process ended."""

    writes: int
    code: int | None  # None: killed at the requested write


def run_traced(action: Callable[[], None], watched: Path, kill_at: int | None = None, *, reads: bool = False) -> Ending:
    """Run ``action`` in a process of its own; kill it before the ``kill_at``-th change (from 1) below ``watched``.

    With ``reads``, opening a file there counts too.
    """
    child = os.fork()
    if not child:
        _be_traced(action)
    os.waitpid(child, 0)
    _check(_LIBC.ptrace(_SET_OPTIONS, child, None, _OPTIONS))
    _go_on(child)
    folder, writes, killed = os.path.realpath(watched), 0, False
    while True:
        thread, status = os.waitpid(-1, _ALL_THREADS)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            if thread == child:
                _reap()
                code = os.waitstatus_to_exitcode(status)
                return Ending(writes, None if killed else code)
            continue
        given = 0
        if status >> 8 == _FILTER_STOP:
            if not killed and _touches(thread, folder, reads):
                writes += 1
                if writes == kill_at:
                    killed = True
                    os.kill(child, signal.SIGKILL)
                    continue
        elif os.WSTOPSIG(status) not in (signal.SIGTRAP, signal.SIGSTOP):
            given = os.WSTOPSIG(status)
        _go_on(thread, given)


def _be_traced(action: Callable[[], None]) -> None:
    """Let the parent trace this process, install the filter, run the action and exit."""
    code = 1
    try:
        _check(_LIBC.ptrace(_TRACE_ME, 0, None, None))
        os.kill(os.getpid(), signal.SIGSTOP)
        _install_filter()
        action()
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    finally:
        os._exit(code)


def _install_filter() -> None:
    """Stop this process at the calls of the table, and only there."""
    steps = [struct.pack("HBBI", _LOAD, 0, 0, 0)]
    for left, number in zip(range(len(_NUMBERS), 0, -1), _NUMBERS, strict=True):
        steps.append(struct.pack("HBBI", _JUMP_IF_EQUAL, left, 0, number))
    steps += [struct.pack("HBBI", _RETURN, 0, 0, _ALLOW), struct.pack("HBBI", _RETURN, 0, 0, _TRACE)]
    code = ctypes.create_string_buffer(b"".join(steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    _check(_LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _check(_LIBC.prctl(_SET_SECCOMP, _FILTER_MODE, program, 0, 0))


def _touches(thread: int, folder: str, reads: bool) -> bool:
    """Tell whether the call at which a thread has stopped changes something below ``folder``, or opens it."""
    info = ctypes.create_string_buffer(88)
    _check(_LIBC.ptrace(_SYSCALL_INFO, thread, 88, info))
    number, *arguments = struct.unpack_from("7Q", info.raw, 24)
    call = _NUMBERS[number]
    if call.file is not None:
        return _is_below(_link(thread, f"fd/{_signed(arguments[call.file])}"), folder)
    if call.flags is not None and not reads and not arguments[call.flags] & (os.O_CREAT | os.O_TRUNC):
        return False
    return any(
        _is_below(_path(thread, None if at is None else arguments[at], arguments[place]), folder)
        for at, place in call.paths
    )


def _path(thread: int, at: int | None, address: int) -> str:
    """Return the path that a call names."""
    try:
        with open(f"/proc/{thread}/mem", "rb") as memory:  # noqa: PTH123
            memory.seek(address)
            # not across a page that may not exist
            text = memory.read(4096 - address % 4096)
            if b"\0" not in text:
                text += memory.read(4096)
    except OSError:
        return ""
    base = _link(thread, "cwd") if at is None or _signed(at) == _AT_CWD else _link(thread, f"fd/{_signed(at)}")
    return os.path.normpath(os.path.join(base, os.fsdecode(text.partition(b"\0")[0])))  # noqa: PTH118


def _link(thread: int, name: str) -> str:
    """Return what a link of /proc points to."""
    try:
        return os.readlink(f"/proc/{thread}/{name}")  # noqa: PTH115
    except OSError:
        return ""


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder + "/")


def _signed(number: int) -> int:
    return ctypes.c_int(number & 0xFFFFFFFF).value


def _go_on(thread: int, given: int = 0) -> None:
    """Let a stopped thread run; it may have been killed meanwhile."""
    _LIBC.ptrace(_CONTINUE, thread, None, given)


def _reap() -> None:
    """Collect what is left of the process."""
    try:
        while os.waitpid(-1, _ALL_THREADS | os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        pass


def _check(answer: int) -> None:
    """Raise an error if a call of the C library failed."""
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
