// Sizes in the page's language.
import { language } from "./words.js";

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];

export function formatSize(bytes, isRate = false) {
  let step = 0;
  let number = bytes;
  while (number >= 999.5 && step < UNITS.length - 1) {
    number /= 1000;
    step += 1;
  }
  const format = new Intl.NumberFormat(language, {
    style: "unit",
    unit: UNITS[step],
    unitDisplay: step ? "short" : "long",
    maximumFractionDigits: step > 1 && number < 99.95 ? 1 : 0,
  });
  const size = format.format(number).replace("kB", "KB");
  return isRate ? `${size}/s` : size;
}
