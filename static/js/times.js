// Times in the page's language.
import { fill, words } from "./words.js";

export function formatTime(seconds) {
  if (seconds < 60) return fill(words.time.seconds, { seconds: Math.max(1, Math.ceil(seconds)) });
  const all = Math.ceil(seconds / 60);
  if (all < 60) return fill(words.time.minutes, { minutes: all });
  return fill(words.time.hours, { hours: Math.floor(all / 60), minutes: all % 60 });
}

// Format a time as `41:07` or `1:04:12`.
export function formatClock(seconds) {
  const whole = Math.max(Math.floor(seconds || 0), 0);
  const pad = (number) => String(number).padStart(2, "0");
  const [hours, minutes, left] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  return hours ? `${hours}:${pad(minutes)}:${pad(left)}` : `${minutes}:${pad(left)}`;
}
