import { browser } from "../storage.js";

const PREFIX = "ferry-player-";

export const recall = (name, otherwise) => browser.readJson(PREFIX + name) ?? otherwise;
export const remember = (name, value) => browser.write(PREFIX + name, JSON.stringify(value));
