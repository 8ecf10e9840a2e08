import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = { documentElement: { lang: "en" }, getElementById: () => ({ textContent: "{}" }) };
const { formatSize } = await import("../../static/js/sizes.js");

test("sizes have no more digits than people read", () => {
  const sizes = [0, 1, 999, 1000, 9949, 999_499, 999_500, 1_550_000, 99_960_000, 9_800_000_000, 5e15];
  const shown = ["0 bytes", "1 byte", "999 bytes", "1 KB", "10 KB", "999 KB", "1 MB", "1.6 MB", "100 MB", "9.8 GB"];
  assert.deepEqual(
    sizes.map((size) => formatSize(size)),
    [...shown, "5,000 TB"],
  );
  assert.equal(formatSize(2_500_000, true), "2.5 MB/s");
});
