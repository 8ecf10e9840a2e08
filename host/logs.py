import json
import logging
import re
from datetime import UTC, datetime

from common.http import request_ids

# One-time links, signatures, and keys: runs that are too long for a word or a file id.
SECRET = re.compile(r"[A-Za-z0-9_-]{32,}")
QUERY = re.compile(r"([?&][\w.%\[\]-]+)=[^\s\"'&]*")
# C0, C1, and what changes direction, is invisible, or breaks a line; surrogates can't be encoded.
CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


class LineFormatter(logging.Formatter):
    """A formatter of one line per event, which escapes control characters and masks secrets."""

    def format(self, record: logging.LogRecord) -> str:
        text = record.getMessage()
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        when = datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return f"{when} {record.levelname} {record.name} {one_line(text)}"


class JSONFormatter(logging.Formatter):
    """A formatter of one JSON object per line, with the ID of the request, and masked as well."""

    def format(self, record: logging.LogRecord) -> str:
        facts = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": one_line(record.getMessage()),
            "request_id": request_ids.current(),
            "exception": self.formatException(record.exc_info) if record.exc_info else "",
        }
        facts["exception"] = "\n".join(map(one_line, facts["exception"].splitlines()))
        return json.dumps({name: fact for name, fact in facts.items() if fact}, ensure_ascii=False)


def one_line(text: str) -> str:
    text = QUERY.sub(r"\1=…", text)
    text = re.sub(r"/[^\s\"']*", lambda path: SECRET.sub("…", path[0]), text)
    return CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


class WithTraceback(logging.Filter):
    """A filter that drops Django's second line about an error that webui.middleware has logged."""

    def filter(self, record: logging.LogRecord) -> bool:
        return bool(record.exc_info)


class CutConnections(logging.Filter):
    """A filter that logs a client that left or stalled as one short line, not as an error."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, (BlockingIOError, TimeoutError, ConnectionError)):
            return True
        record.levelno, record.levelname = logging.INFO, "INFO"
        record.msg, record.args = f"connection cut: {type(error).__name__}", ()
        record.exc_info = record.exc_text = None
        return logging.getLogger("ferry").isEnabledFor(logging.INFO)
