import Hls from "/static/vendor/hls.min.mjs";

const video = document.querySelector("video");
const seen = { fatal: [], loaded: [], levels: [], sounds: [] };
const hls = new Hls({ enableWorker: false, maxBufferLength: 12 });

hls.on(Hls.Events.ERROR, (_event, data) => {
  if (data.fatal) {
    seen.fatal.push(`${data.type} ${data.details}`);
  }
});
hls.on(Hls.Events.FRAG_LOADED, (_event, data) => seen.loaded.push(data.frag.url));
hls.on(Hls.Events.LEVEL_SWITCHED, (_event, data) => seen.levels.push(data.level));
hls.on(Hls.Events.AUDIO_TRACK_SWITCHED, (_event, data) => seen.sounds.push(data.id));
hls.loadSource(new URLSearchParams(location.search).get("from"));
hls.attachMedia(video);
Object.assign(window, { hls, seen, video });
