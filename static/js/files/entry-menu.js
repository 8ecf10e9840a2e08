import { copy } from "../copying.js";
import { RowMenu } from "../row-menu.js";
import { linkOf, rowOf } from "../selection/rows.js";
import { startSelecting } from "../selection/selection.js";
import { rename } from "./renaming.js";
import { deleteRow, isPlayable, moveRow, playElsewhere, unpackRow } from "./row-acts.js";
import { isFolder, nameOf, urlOf } from "./rows.js";

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
  const row = rowOf(more) ?? more.closest("[data-folder]");
  const isListed = rowOf(row) !== null;
  const [file, folder] = menu.find("get").querySelectorAll("span");
  menu.element.querySelector(".menu-title").textContent = nameOf(row);
  menu.offer("open", true, linkOf(row).href);
  menu.offer("get", true, bytesOf(row));
  menu.offer("share", true, urlOf(row, `share/?entry=${row.id}`));
  menu.offer("play", isPlayable(row), urlOf(row, `${row.id}/link/`));
  menu.offer("unpack", isListed && !isFolder(row) && UNPACKABLE.test(nameOf(row)));
  menu.offer("select", isListed);
  file.hidden = isFolder(row);
  folder.hidden = !isFolder(row);
  menu.open(more, row);
}

function bytesOf(row) {
  const { files, folder } = { ...menu.element.dataset, ...row.dataset };
  const what = isFolder(row) ? "zip/" : `download/?in=${folder}`;
  return new URL(`${row.id.replace("-", "/")}/${what}`, new URL(files, location.href)).href;
}
