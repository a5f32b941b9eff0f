"""Where data is: a file, files by pattern, an object store or a database; and how to name it without its secrets."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from shoal.errors import DataError

DATABASES = ("duckdb", "sqlite", "postgresql", "postgres")
EMBEDDED = DATABASES[:2]  # a file of one's own: no server, no account
# Object stores, with the extra that installs the client of each; memory is fsspec's own.
STORES = {
    "s3": "s3",
    "s3a": "s3",
    "gs": "gs",
    "gcs": "gs",
    "abfs": "azure",
    "abfss": "azure",
    "az": "azure",
    "memory": "s3",
}
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)  # of two letters at least: C: is a drive
HIDDEN = "…"  # in place of what cannot be told from a secret
_SECRETS = (
    (re.compile(r"(://)[^\s'\"@]*@"), r"\1***@"),
    (
        re.compile(
            r"(?i)((?:password|passwd|pwd|secret|token|access_?key|account_?key|api_?key)(?:\s*[=:]\s*|\s+(?=['\"])))"
            r"('[^']*'|\"[^\"]*\"|[^\s'\",;&)]+)"
        ),
        r"\1***",
    ),
)


def scheme_of(source: object) -> str | None:
    """Return what is before ``://``, in lower case; None for a path, ``-`` or a stream.

    Examples
    --------
    >>> scheme_of("s3://bucket/tickets.csv"), scheme_of("tickets.csv")
    ('s3', None)
    """
    found = _SCHEME.match(source) if isinstance(source, str) else None
    return found[1].lower() if found else None


def located(source: str) -> str:
    """Return the path of a ``file://`` address, and anything else as it is; refuse what cannot be read.

    Examples
    --------
    >>> located("file:///data/my%20tickets.csv"), located("s3://bucket/tickets.csv")
    ('/data/my tickets.csv', 's3://bucket/tickets.csv')
    """
    scheme = scheme_of(source)
    if scheme == "file":
        return unquote(source[len("file://") :].removeprefix("localhost"))
    if scheme is not None and scheme not in (*DATABASES, *STORES):
        known = " ".join(f"{name}://" for name in ("file", *STORES, *DATABASES))
        raise DataError(f"{scheme}:// is not an address that Shoal knows; the addresses are {known}; or pass a file.")
    return source


def shown(source: str) -> str:
    """Return a source as messages and records may name it: of an address only what is certainly no secret.

    Examples
    --------
    >>> shown("postgresql://ann:secret@db.example/shop?table=tickets&sslpassword=other")
    'postgresql://ann@db.example/shop?table=tickets'
    >>> shown("postgresql://ann:not/quoted@db.example/shop")
    'postgresql://…'
    """
    scheme = scheme_of(source)
    if scheme is None or scheme == "file":
        return source
    rest = source[len(scheme) + len("://") :]
    if scheme in STORES:
        return f"{scheme}://{HIDDEN}" if ":" in rest.partition("/")[0] else source
    if scheme not in DATABASES:
        return f"{scheme}://{HIDDEN}"
    account, at, place = ("", "", rest) if scheme in EMBEDDED else rest.rpartition("@")
    if re.search("[/?#]", account):  # an @ that is not where the account ends: no telling what is the secret
        return f"{scheme}://{HIDDEN}"
    place, options = split_options(place)
    table = f"?table={options['table']}" if "table" in options else ""
    return f"{scheme}://{account.partition(':')[0]}{at}{place}{table}"


def split_options(address: str) -> tuple[str, dict[str, str]]:
    """Return an address without its options, and these, decoded.

    Examples
    --------
    >>> split_options("sqlite:///shop.db?table=open%20tickets")
    ('sqlite:///shop.db', {'table': 'open tickets'})
    """
    place, _, rest = address.partition("?")
    pairs = (pair.partition("=") for pair in rest.split("&") if pair)
    return place, {name: unquote(value) for name, _, value in pairs}  # not parse_qs, for which + is a space


def without_secrets(text: str) -> str:
    """Return a query or a message without what looks like a password, a token or an account in an address.

    Examples
    --------
    >>> without_secrets("select * from postgres_scan('host=db password=fish', 't')")
    "select * from postgres_scan('host=db password=***', 't')"
    """
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


def short_name(source: str) -> str:
    """Return a word or two for what is read: the file, the folder of a pattern, the table.

    Examples
    --------
    >>> [short_name(each) for each in ("a/tickets.csv.gz", "a/tickets/*.parquet", "sqlite:///a.db?table=calls", "-")]
    ['tickets', 'tickets', 'calls', 'stdin']
    """
    if source == "-":
        return "stdin"
    plain, _, table = shown(source).partition("?table=")
    if table:
        return table
    fixed = [part for part in PurePosixPath(plain.replace("\\", "/")).parts if not is_pattern(part)]
    return fixed[-1].split(".")[0] if fixed else ""


def is_pattern(source: str) -> bool:
    """Tell whether a path has wildcards; a file of that very name is no pattern.

    Examples
    --------
    >>> is_pattern("tickets/*.parquet"), is_pattern("tickets.parquet")
    (True, False)
    """
    return any(sign in source for sign in "*?[") and not (scheme_of(source) is None and _exists(source))


def _exists(path: str) -> bool:
    """Tell whether there is such a file or folder."""
    try:
        return Path(path).expanduser().exists()
    except (OSError, ValueError, RuntimeError):  # too long, a NUL in it, no home
        return False
