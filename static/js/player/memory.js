import { browser } from "../storage.js";

const PREFIX = "ferry-player-";

export const recall = (name, fallback) => browser.readJson(PREFIX + name) ?? fallback;
export const remember = (name, value) => browser.write(PREFIX + name, JSON.stringify(value));
