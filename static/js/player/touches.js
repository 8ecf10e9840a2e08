// Presses on the film itself: a click pauses, and a double click fills the screen. A tap shows the
// controls, and a double tap on one side seeks ten seconds in that direction.

const DOUBLE_MS = 300;
const STEP_SECONDS = 10;

export function listen(root, video, controls, on) {
  const stage = root.querySelector("#stage");
  let last = { at: 0, side: 0 };
  let isTouch = false;
  let clickTimer = 0;

  on(stage, "pointerdown", ({ pointerType }) => (isTouch = pointerType !== "mouse"));
  on(stage, "click", (event) => {
    if (event.target !== stage) return;
    if (isTouch) tap(event);
    else click(event);
  });

  function tap({ clientX, timeStamp }) {
    const share = clientX / root.clientWidth;
    const side = share < 1 / 3 ? -1 : share > 2 / 3 ? 1 : 0;
    const isDouble = timeStamp - last.at < DOUBLE_MS && side === last.side;
    const wasIdle = root.classList.contains("idle");
    last = { at: isDouble ? 0 : timeStamp, side };
    if (isDouble && side) return controls.step(side * STEP_SECONDS);
    if (wasIdle || video.paused) controls.stir();
    else root.classList.add("idle");
  }

  function click({ detail }) {
    clearTimeout(clickTimer);
    if (detail === 2) controls.toggleFullscreen();
    else clickTimer = setTimeout(() => controls.toggle(), DOUBLE_MS / 2);
  }
}
