"""Calls that hold up the loop that they are made on."""

from __future__ import annotations

from dexnb.lint.facts.making import is_making
from dexnb.lint.facts.origin import last_of, top_of
from dexnb.lint.facts.words import words

_PACKAGES = words("""
    MySQLdb boto3 botocore cx_Oracle docker ftplib googleapiclient imaplib kubernetes ldap3
    mysql oracledb paramiko pika pip polling polling2 poplib psycopg psycopg2 pymongo pymssql
    pymysql pyodbc redis requests selenium smtplib snowflake sqlite3 suds twilio urllib3
    xmlrpc zeep
""")
_ASYNC = ("asyncio", "aio", "Async", "async")
_CALLS = frozenset(
    {
        ("builtins", "input"),
        ("http", "getresponse"),
        ("http", "request"),
        ("os", "popen"),
        ("os", "system"),
        ("os", "wait"),
        ("os", "waitpid"),
        ("socket", "accept"),
        ("socket", "connect"),
        ("socket", "create_connection"),
        ("socket", "getaddrinfo"),
        ("socket", "gethostbyname"),
        ("socket", "recv"),
        ("socket", "sendall"),
        ("subprocess", "call"),
        ("subprocess", "check_call"),
        ("subprocess", "check_output"),
        ("subprocess", "communicate"),
        ("subprocess", "getoutput"),
        ("subprocess", "run"),
        ("subprocess", "wait"),
        ("queue", "get"),
        ("multiprocessing", "join"),
        ("time", "sleep"),
        ("urllib", "urlopen"),
        ("urllib", "urlretrieve"),
        ("dexnb", "sleep_blocking"),
        ("concurrent", "result"),
        ("threading", "join"),
        ("threading", "wait"),
        ("queue", "join"),
    }
)
_CONNECTS = frozenset({"connect", "create_connection"})
_HTTPX = words("delete get head options patch post put request send stream")
_MAKES = words("""
    client cursor from_env from_url get_waiter register register_adapter resource session
""")


def is_blocking(origin: str) -> bool:
    """Tell a call that is known to wait for somebody without giving the loop back.

    Args:
        origin: Its dotted name.
    """
    top, last = top_of(origin), last_of(origin)
    if (top, last) in _CALLS:
        return True
    if _reads_a_result(origin):
        return False
    parts = origin.replace("()", "").split(".")
    if any(part.startswith(_ASYNC) for part in parts[1:]):
        return False
    if top == "httpx":
        return last in _HTTPX
    return top in _PACKAGES and last not in _MAKES and not is_making(origin)


def _reads_a_result(origin: str) -> bool:
    """Tell a method of what a blocking call has given: `requests.get().json`."""
    made = origin.rpartition(".")[0]
    if not made.endswith("()") or last_of(made) in _CONNECTS:
        return False
    return is_blocking(made.removesuffix("()"))
