"""Read bencode within bounds: it comes from strangers."""

import re

from service.errors import NotATorrent

# Keys count too. A torrent of 100,000 files has about 800,000 values.
MOST_VALUES = 1_200_000
DEEPEST = 300
LENGTH = re.compile(rb"([0-9]{1,10}):")
TOKEN = re.compile(rb"([0-9]{1,10}):|i(-?[1-9][0-9]{0,18}|0)e|[lde]")
TEXT, INTEGER = 1, 2  # groups of TOKEN
LIST, DICTIONARY, END = b"l", b"d", b"e"
# What may come next in an open list or dictionary: keys and values alternate.
ANY, KEY, VALUE = range(3)
FIRST = {LIST: ANY, DICTIONARY: KEY}


class BencodeReader:
    """A cursor in a document that moves forward as values are read or skipped, one by one.

    Guarantee: memory for one text at a time and no recursion, whatever the document holds.
    Rejected: a tree of objects. 7 MB of bencode can become 1 GB of objects.
    """

    def __init__(self, content: bytes, most_values: int = MOST_VALUES) -> None:
        self.at = 0
        self.values_left = most_values
        self._content = content
        self._depth = 0

    def enter(self, letter: bytes) -> None:
        """Go into a list or a dictionary."""
        self.values_left -= 1
        self._depth += 1
        if self._depth > DEEPEST or not self._content.startswith(letter, self.at):
            raise NotATorrent
        self.at += 1

    def leaves(self) -> bool:
        """Return whether the list or dictionary ends here, and leave it if so.

        A document that is cut off has no end.
        """
        if not self._content.startswith(END, self.at):
            return False
        self.at += 1
        self._depth -= 1
        return True

    def next_key(self) -> bytes | None:
        """Return the next key; at the end of the dictionary, leave it and return None."""
        return None if self.leaves() else self.text()

    def text(self) -> bytes:
        size = self.text_size()
        return self._content[self.at - size : self.at]

    def text_size(self) -> int:
        """Skip a text, and return how many bytes it has."""
        match = LENGTH.match(self._content, self.at)
        self.values_left -= 1
        if match is None or self.values_left < 0:
            raise NotATorrent
        size = int(match[1])
        self.at = match.end() + size
        if self.at > len(self._content):
            raise NotATorrent
        return size

    def texts(self) -> bytes:
        """Read a list of texts, and return its encoding, which differs for different lists."""
        self.enter(LIST)
        start = self.at
        while not self.leaves():
            self.text_size()
        return self._content[start : self.at - 1]

    def integer(self) -> int | None:
        """Return an integer; skip a value of another type, and return None."""
        token = self.skip()
        return int(token[INTEGER]) if token.lastindex == INTEGER else None

    def skip(self) -> re.Match[bytes]:
        """Move past a value, and return its first token."""
        content, at, values_left = self._content, self.at, self.values_left
        most_open = DEEPEST - self._depth
        first: re.Match[bytes] | None = None
        expected: list[int] = []
        try:
            while first is None or expected:
                token = TOKEN.match(content, at)
                if token is None or values_left < 0:
                    raise NotATorrent
                first = first or token
                at = token.end()
                kind = token.lastindex
                if kind == TEXT:
                    at += int(token[TEXT])
                elif kind is None and token[0] == END:
                    if not expected or expected.pop() == VALUE:
                        raise NotATorrent
                    continue
                values_left -= 1
                if expected and expected[-1]:
                    expected[-1] = following(expected[-1], is_text=kind == TEXT)
                if kind is None:
                    expected.append(FIRST[token[0]])
                    if len(expected) > most_open:
                        raise NotATorrent
        finally:
            self.at, self.values_left = at, values_left
        if at > len(content):
            raise NotATorrent
        return first


def following(expected: int, *, is_text: bool) -> int:
    if expected == KEY and not is_text:
        raise NotATorrent
    return VALUE if expected == KEY else KEY
