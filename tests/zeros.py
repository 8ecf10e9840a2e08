"""A file to upload that takes up no space."""

import io
import os


class Zeros(io.RawIOBase):
    """A file of `size_bytes` zeros, which takes up no space."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.at = 0

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self.at, os.SEEK_END: self.size_bytes}[whence]
        self.at = begin + offset
        return self.at

    def read(self, size: int = -1) -> bytes:
        left = self.size_bytes - self.at
        part = bytes(left if size < 0 else min(size, left))
        self.at += len(part)
        return part
