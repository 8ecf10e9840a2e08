// One button that plays and pauses, and says which.
export function showPlaying(button, isOn) {
  const icon = button.querySelector("use");
  const words = isOn ? button.dataset.pause : button.dataset.play;
  if (button.getAttribute("aria-label") === words) return;
  button.setAttribute("aria-label", words);
  icon.setAttribute("href", icon.getAttribute("href").replace(/#.*/, isOn ? "#pause" : "#play"));
}
