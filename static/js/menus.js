import { on, onCapture, onClick } from "./events.js";

const openers = new Map(); // the button that opened each menu last, by the menu's id
let pressedButton = null;

onClick("[popovertarget]", (button) => openers.set(button.getAttribute("popovertarget"), button));

onCapture("pointerdown", ({ target }) => (pressedButton = target.closest(".more[aria-expanded=true]")));

// Open a menu that serves several buttons. A press on the button of an open menu has already closed it.
export function openMenu(menu, button) {
  const hasClosed = button === pressedButton;
  pressedButton = null;
  if (hasClosed) return;
  if (menu.matches(":popover-open")) menu.hidePopover();
  // Browsers merge the toggle events of hiding and showing at once.
  openers.get(menu.id)?.removeAttribute("aria-expanded");
  openers.set(menu.id, button);
  button.setAttribute("aria-expanded", "true");
  menu.showPopover({ source: button });
}

onCapture("toggle", ({ target, newState }) => {
  if (!target.matches(".menu[popover]")) return;
  if (newState === "open") return items(target)[0]?.focus();
  const button = openers.get(target.id);
  const isLost = document.activeElement === document.body || target.contains(document.activeElement);
  button?.removeAttribute("aria-expanded");
  if (isLost) button?.focus();
});

on(document, "keydown", (event) => {
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
