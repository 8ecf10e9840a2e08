"""Plan how one content is played: all its renditions, computed once and kept beside them."""

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any

import msgspec
from msgspec import convert

from service.media.hls import copyable, renditions
from service.media.hls.grid import cuts
from service.media.hls.renditions import Rendition, RenditionKind, SurveyedShape
from service.media.probe import MediaTrack, Probed, TrackKind

PLAN = "plan.json"
# Raise it when segments are cut in another way, or plans tell more: then none that were made before
# are served.
VERSION = 3


@dataclass(frozen=True)
class Hidden:
    """Subtitles that are pictures, which Ferry shows only as part of the film's pictures."""

    track: int
    language: str
    title: str
    codec: str


@dataclass(frozen=True)
class PlaybackPlan:
    seconds: float
    renditions: tuple[Rendition, ...]
    hidden: tuple[Hidden, ...] = ()
    # What hidden subtitles are drawn into.
    canvases: tuple[Rendition, ...] = ()
    # From an earlier plan, which someone may still be watching.
    former: tuple[Rendition, ...] = ()
    # False if a scan of the whole film may still find where it can be cut.
    is_final: bool = True
    version: int = VERSION

    def of_kind(self, kind: RenditionKind) -> list[Rendition]:
        return [each for each in self.renditions if each.kind == kind]

    def first(self) -> list[Rendition]:
        """Return the picture and the sound that players begin with."""
        sounds = self.of_kind(RenditionKind.SOUND)
        return self.of_kind(RenditionKind.PICTURE)[:1] + [
            each for each in sounds if each.is_default
        ]

    def rendition(self, name: str) -> Rendition | None:
        burned = chain.from_iterable(self.pictures_with(each.track) for each in self.hidden)
        there = chain(self.renditions, self.former, burned)
        return next((each for each in there if each.name == name), None)

    def pictures_with(self, track: int) -> list[Rendition]:
        """Return the pictures with hidden subtitles in them, none if Ferry can't draw them."""
        return [
            renditions.with_subtitles(canvas, hidden.track, hidden.codec)
            for hidden in self.hidden
            if hidden.track == track and hidden.codec in renditions.DRAWN_SUBTITLES
            for canvas in self.canvases
        ]

    def after(self, earlier: "PlaybackPlan | None") -> "PlaybackPlan":
        """Return this plan with what only the earlier one had, which is still served."""
        if earlier is None:
            return self
        names = {each.name for each in self.renditions}
        there = (*earlier.renditions, *earlier.former)
        return replace(self, former=tuple(each for each in there if each.name not in names))


def find_plan(folder: Path) -> PlaybackPlan | None:
    """Return a content's plan from the folder of its renditions, or None if it isn't made yet."""
    path = folder / PLAN
    try:
        return _read(path, path.stat().st_mtime_ns)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=64)
def _read(path: Path, _written_at: int) -> PlaybackPlan:
    plan = msgspec.json.decode(path.read_bytes(), type=PlaybackPlan)
    if plan.version != VERSION:
        raise ValueError(plan.version)
    return plan


# Making one


def questions(probed: Probed) -> dict[str, Any]:
    """Return what the surveyor should examine."""
    picture = renditions.main_picture(probed)
    is_cut = picture is not None and copyable.is_picture_copied(probed, picture)
    cut = picture.index if picture is not None and is_cut else None
    sounds = [each.index for each in sounds_of(probed) if copyable.is_sound_copied(probed, each)]
    return {"video": cut, "copied": sounds if cut is None else [cut, *sounds]}


def sounds_of(probed: Probed) -> list[MediaTrack]:
    return probed.of_kind(TrackKind.AUDIO)[: renditions.MOST_SOUNDS]


def make_plan(probed: Probed, answer: Mapping[str, Any], *, is_final: bool) -> PlaybackPlan:
    survey = Survey(probed, answer)
    pictures = survey.pictures()
    has_copy = any(each.is_copied for each in pictures)
    wants_copy = questions(probed)["video"] is not None
    hidden = hidden_tracks(probed)
    return PlaybackPlan(
        seconds=survey.seconds,
        renditions=(*pictures, *survey.sounds(), *survey.texts()),
        hidden=hidden,
        canvases=tuple(survey.encoded_pictures(below=False)) if hidden else (),
        is_final=is_final or has_copy or not wants_copy,
    )


def hidden_tracks(probed: Probed) -> tuple[Hidden, ...]:
    tracks = [each for each in probed.of_kind(TrackKind.SUBTITLE) if not each.is_text]
    hidden = (Hidden(each.index, each.language, each.title, each.codec) for each in tracks)
    return tuple(islice(hidden, renditions.MOST_TEXTS))


class Survey:
    """The surveyor's answer about a probed media file."""

    def __init__(self, probed: Probed, answer: Mapping[str, Any]) -> None:
        self._probed = probed
        self._answer = answer
        self._picture = renditions.main_picture(probed)

    @property
    def seconds(self) -> float:
        pictures = [self._picture] if self._picture else []
        return max(map(self._end_of, [*pictures, *sounds_of(self._probed)]))

    def pictures(self) -> list[Rendition]:
        if self._picture is None:
            return []
        copy = self._copied_picture(self._picture, self._end_of(self._picture))
        encoded = self.encoded_pictures(below=bool(copy))
        return [copy, *encoded] if copy else encoded

    def encoded_pictures(self, *, below: bool) -> list[Rendition]:
        if self._picture is None:
            return []
        encoded = renditions.encoded_pictures(
            self._picture,
            self._shape(self._picture),
            self._end_of(self._picture),
            below=below,
            preroll=renditions.preroll_of(self._probed, self._picture),
        )
        # Players begin with the first: any machine delivers 720 lines at once.
        return sorted(encoded, key=lambda each: each.name == "v1080")

    def _copied_picture(self, track: MediaTrack, end: float) -> Rendition | None:
        keys, init = self._answer["keys"], self._answer["inits"].get(str(track.index))
        indexes = cuts(keys["times"], end) if keys and init else None
        if indexes is None:
            return None
        shape = self._shape(track)
        width, height = renditions.shown_size(track, shape)
        return Rendition(
            name="vcopy",
            kind=RenditionKind.PICTURE,
            track=track.index,
            seconds=end,
            is_copied=True,
            codecs=init["codecs"],
            bits=most_bits(keys, indexes, end),
            rate=str(renditions.rate_of(shape, track)),
            width=width,
            height=height,
            starts=tuple(round(keys["times"][each], 6) for each in indexes),
            marks=tuple(keys["marks"][each] for each in indexes),
            by=keys["by"],
            delay=keys["delay"],
        )

    def sounds(self) -> list[Rendition]:
        tracks = sounds_of(self._probed)
        default = next((each for each in tracks if each.is_default), tracks[0] if tracks else None)
        return [self._sound(each, is_default=each is default) for each in tracks]

    def _sound(self, track: MediaTrack, *, is_default: bool) -> Rendition:
        encoded = renditions.encoded_sound(track, self._end_of(track), is_default=is_default)
        init = self._answer["inits"].get(str(track.index))
        if init is None:
            return encoded
        return replace(
            encoded,
            name=f"a{track.index}copy",
            is_copied=True,
            codecs=init["codecs"],
            bits=320_000,
            channels=track.channels,
        )

    def texts(self) -> list[Rendition]:
        tracks = [each for each in self._probed.of_kind(TrackKind.SUBTITLE) if each.is_text]
        return [renditions.text(each, self.seconds) for each in tracks[: renditions.MOST_TEXTS]]

    def _end_of(self, track: MediaTrack) -> float:
        end = float(self._answer["ends"].get(str(track.index), 0))
        return end if end > 0 else max(self._probed.duration_seconds, 0.1)

    def _shape(self, track: MediaTrack) -> SurveyedShape:
        return convert(self._answer["shapes"].get(str(track.index), {}), SurveyedShape)


def inits_of(plan: PlaybackPlan, answer: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the init segments of copied renditions, by name."""
    copies = [each for each in plan.renditions if each.is_copied]
    return {each.name: b64decode(answer["inits"][str(each.track)]["init"]) for each in copies}


def most_bits(keys: Mapping[str, Any], indexes: list[int], end: float) -> int:
    """Return the rate of the largest segment, with all bytes that lie in between in the file."""
    bounds = [*indexes, len(keys["times"])]
    times = [*keys["times"], end]
    rates = (
        8 * sum(keys["bytes"][at:after]) / max(0.1, times[after] - times[at])
        for at, after in pairwise(bounds)
    )
    return round(max(rates, default=0)) or 1_000_000
