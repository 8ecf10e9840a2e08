import io
import math
import struct
import wave

# The content of a file whose name says that it is music.
BROKEN = b"No browser plays this."


def sound(seconds: float) -> bytes:
    kept = io.BytesIO()
    with wave.open(kept, "wb") as written:
        written.setparams((1, 2, 8000, 0, "NONE", ""))
        waves = (int(3000 * math.sin(step / 3)) for step in range(int(8000 * seconds)))
        written.writeframes(b"".join(struct.pack("<h", each) for each in waves))
    return kept.getvalue()
