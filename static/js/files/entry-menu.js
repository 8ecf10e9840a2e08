import { copy } from "../copying.js";
import { RowMenu } from "../row-menu.js";
import { deleteRow } from "./deleting.js";
import { addressOf, isPlayable, playElsewhere } from "./elsewhere.js";
import { moveRow } from "./moving.js";
import { rename } from "./renaming.js";
import { isFolder, linkOf, nameOf, rowOf } from "./rows.js";
import { startSelecting } from "./selection.js";
import { unpackRow } from "./unpacking.js";

const UNPACKABLE = /\.(zip|cbz)$/i;

const menu = new RowMenu("entry-menu", {
  open: (row) => linkOf(row).click(),
  copy: (row) => copy(isFolder(row) ? linkOf(row).href : bytesOf(row)),
  select: startSelecting,
  play: playElsewhere,
  rename,
  move: moveRow,
  unpack: unpackRow,
  delete: deleteRow,
});

export function open(more) {
  const row = rowOf(more);
  const link = linkOf(row);
  const [get, openLink, share, play, unpack] = ["get", "open", "share", "play", "unpack"].map((what) =>
    menu.find(what),
  );
  const [file, folder] = get.querySelectorAll("span");
  menu.element.querySelector(".menu-title").textContent = nameOf(row);
  get.href = bytesOf(row);
  openLink.href = link.href;
  if (share) share.href = `${menu.element.dataset.files}${menu.element.dataset.folder}/share/?entry=${row.id}`;
  if (play) {
    play.href = addressOf(row);
    play.parentElement.hidden = !isPlayable(row);
  }
  if (unpack) unpack.parentElement.hidden = isFolder(row) || !UNPACKABLE.test(nameOf(row));
  file.hidden = isFolder(row);
  folder.hidden = !isFolder(row);
  menu.open(more, row);
}

function bytesOf(row) {
  const files = new URL(menu.element.dataset.files, location.href);
  const what = isFolder(row) ? "zip/" : `download/?in=${menu.element.dataset.folder}`;
  return new URL(`${row.id.replace("-", "/")}/${what}`, files).href;
}
