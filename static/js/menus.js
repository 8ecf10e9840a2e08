let opener = null;

document.addEventListener("click", ({ target }) => {
  opener = target.closest("[popovertarget]") ?? opener;
});

let pressedButton = null;

document.addEventListener(
  "pointerdown",
  ({ target }) => {
    pressedButton = target.closest(".more[aria-expanded=true]");
  },
  true,
);

// A press on the button of an open menu closes the menu before the click arrives.
export function hasClosed(button) {
  const isOpen = button === pressedButton;
  pressedButton = null;
  return isOpen;
}

// Toggle events don't bubble, so listen in the capture phase.
document.addEventListener(
  "toggle",
  ({ target, newState }) => {
    if (!target.matches(".menu[popover]")) return;
    if (newState === "open") return items(target)[0]?.focus();
    const isLost = document.activeElement === document.body || target.contains(document.activeElement);
    if (isLost && opener?.getAttribute("popovertarget") === target.id) opener.focus();
  },
  true,
);

document.addEventListener("keydown", (event) => {
  const menu = event.target.closest(".menu:popover-open");
  const step = menu && steps[event.key];
  if (!step) return;
  event.preventDefault();
  const choices = items(menu);
  step(choices, choices.indexOf(document.activeElement)).focus();
});

const steps = {
  ArrowDown: (choices, at) => choices[(at + 1) % choices.length],
  ArrowUp: (choices, at) => choices.at(at < 1 ? -1 : at - 1),
  Home: (choices) => choices[0],
  End: (choices) => choices.at(-1),
};

function items(menu) {
  return [...menu.querySelectorAll("a[href], button:not(:disabled)")].filter((item) => item.checkVisibility());
}
