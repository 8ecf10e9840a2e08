const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
const language = document.documentElement.lang || "en";

export function fill(words, values) {
  return words.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

export const numberWords = (number) => new Intl.NumberFormat(language).format(number);

export function sizeWords(bytes, isRate = false) {
  let step = 0;
  let number = bytes;
  while (number >= 999.5 && step < UNITS.length - 1) {
    number /= 1000;
    step += 1;
  }
  const digits = step > 1 && number < 99.95 ? 1 : 0;
  const format = new Intl.NumberFormat(language, {
    style: "unit",
    unit: UNITS[step],
    unitDisplay: step ? "short" : "long",
    maximumFractionDigits: digits,
  });
  const words = format.format(number).replace("kB", "KB");
  return isRate ? `${words}/s` : words;
}

export function timeWords(seconds, words) {
  if (seconds < 60) return fill(words.seconds, { seconds: Math.max(1, Math.ceil(seconds)) });
  const all = Math.ceil(seconds / 60);
  if (all < 60) return fill(words.minutes, { minutes: all });
  return fill(words.hours, { hours: Math.floor(all / 60), minutes: all % 60 });
}

// `41:07`, `1:04:12`.
export function clockWords(seconds) {
  const whole = Math.max(Math.floor(seconds || 0), 0);
  const pad = (number) => String(number).padStart(2, "0");
  const [hours, minutes, left] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  return hours ? `${hours}:${pad(minutes)}:${pad(left)}` : `${minutes}:${pad(left)}`;
}
