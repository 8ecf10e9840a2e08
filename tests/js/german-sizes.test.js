import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = { documentElement: { lang: "de" }, getElementById: () => ({ textContent: "{}" }) };
const { formatSize } = await import("../../static/js/sizes.js");

test("sizes are written as the language of the page does", () => {
  const sizes = [512, 41_200, 9_800_000_000].map((size) => formatSize(size));
  const rates = [2_500_000, 512].map((size) => formatSize(size, true));
  const plain = [...sizes, ...rates].map((words) => words.replace("\u00a0", " "));
  assert.deepEqual(plain, ["512 Byte", "41 KB", "9,8 GB", "2,5 MB/s", "512 Byte/s"]);
});
