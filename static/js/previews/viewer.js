// The viewer on the page, whichever home it has: fetched, put in place, given its behaviour.
import { onDemand } from "../on-demand.js";
import { showToast } from "../toasts.js";
import { addWords, words } from "../words.js";

let latest = 0;
let leaving = new AbortController();

export const viewer = () => document.getElementById("viewer");

// What is fetched is a whole page; what it shows is taken out of it, with the styles it needs.
// Nothing where the page is something else, such as an error, which then opens by itself.
export async function load(url) {
  const turn = ++latest;
  const busy = document.getElementById("busy");
  busy?.classList.add("htmx-request");
  try {
    const answer = await fetch(url, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = answer.ok && !answer.redirected ? page.getElementById("viewer") : null;
    if (turn !== latest) return null;
    if (!found) {
      location.assign(url);
      return null;
    }
    await Promise.all([...page.querySelectorAll("link[rel=stylesheet]")].map(addStyles));
    if (turn !== latest) return null;
    addWords(page);
    // Sound that was adopted, and not made here, has given up already.
    return { viewer: document.importNode(found, true), title: page.title };
  } catch {
    if (turn === latest) showToast(words.shell.unreachable, () => location.assign(url));
    return null;
  } finally {
    if (turn === latest) busy?.classList.remove("htmx-request");
  }
}

// Resolve when this page has the styles, or can't get them.
function addStyles(link) {
  if ([...document.styleSheets].some((sheet) => sheet.href === link.href)) return null;
  return new Promise((resolve) => {
    link.onload = link.onerror = resolve;
    document.head.append(link);
  });
}

// `wish` is what the next page has from the one before: that it plays, or follows what plays.
export async function mount(fresh, wish = {}) {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  window.htmx?.process(fresh);
  for (const copy of fresh.querySelectorAll("[data-copy]")) copy.parentElement.hidden = !navigator.clipboard;
  if (!fresh.dataset.script) return;
  const behaviour = await onDemand(() => import(fresh.dataset.script));
  if (!behaviour || signal.aborted) return;
  behaviour.mount(fresh, signal, wish);
  fresh.dataset.mounted = "";
}

export function unmount() {
  latest += 1;
  leaving.abort();
}

export async function turnTo(url, wish = {}) {
  const { step, do: act } = document.activeElement?.dataset ?? {};
  const found = await load(url);
  if (!found || !viewer()) return;
  const isInStrip = Boolean(document.activeElement?.closest(".strip, .queue"));
  const sound = document.getElementById("sound");
  const isPlaying = wish.isPlaying ?? (sound !== null && !sound.paused);
  viewer().replaceWith(found.viewer);
  history.replaceState(history.state, "", url);
  document.title = found.title;
  await mount(found.viewer, { ...wish, isPlaying });
  if (viewer() !== found.viewer) return;
  focusOn(
    found.viewer,
    isInStrip ? "[aria-current]" : act ? `[data-do=${act}]` : `.step[data-step=${step}], [data-step=${step}]`,
  );
  say(`${found.viewer.querySelector("h1").textContent}, ${found.viewer.querySelector(".viewer-title p").textContent}`);
}

function focusOn(fresh, selector) {
  const wanted = [...fresh.querySelectorAll(selector)].find((each) => !each.disabled && each.checkVisibility());
  (wanted ?? fresh.querySelector("#back")).focus({ preventScroll: true });
}

function say(sentence) {
  const said = document.getElementById("viewer-said");
  if (said) said.textContent = sentence;
}
