// What is chosen in a folder: some rows, whether they are loaded or not, or all that match except some.
export class Selection {
  isAll = false;
  isSelecting = false; // a tap chooses a row instead of opening it
  total = 0;
  #query = "";
  #lastKey = "";
  #exceptions = new Map(); // from the keys of the chosen rows, or of the spared ones, to their bytes

  get count() {
    return this.isAll ? this.total - this.#exceptions.size : this.#exceptions.size;
  }

  // The sum of the sizes, or 0 if one of them is unknown.
  get bytes() {
    const sizes = this.isAll ? [] : [...this.#exceptions.values()];
    return sizes.includes("") ? 0 : sizes.reduce((sum, size) => sum + Number(size), 0);
  }

  has(key) {
    return this.isAll !== this.#exceptions.has(key);
  }

  choose({ id, dataset }, isChosen) {
    if (isChosen === this.isAll) this.#exceptions.delete(id);
    else this.#exceptions.set(id, dataset.bytes);
    this.#lastKey = id;
    if (!this.count) this.chooseAll([], false);
  }

  // Choose from the last row up to this one, if both are in `rows`.
  chooseRange(rows, row, isChosen) {
    const to = rows.indexOf(row);
    const last = rows.findIndex(({ id }) => id === this.#lastKey);
    const from = last < 0 ? to : last;
    for (const each of rows.slice(Math.min(from, to), Math.max(from, to) + 1)) this.choose(each, isChosen);
    this.#lastKey = row.id;
  }

  chooseAll(rows, isChosen) {
    this.isAll = isChosen && rows.length < this.total;
    this.#exceptions.clear();
    if (isChosen && !this.isAll) for (const { id, dataset } of rows) this.#exceptions.set(id, dataset.bytes);
  }

  clear() {
    this.isSelecting = false;
    this.chooseAll([], false);
  }

  // Take over what the page shows now. "All" meant all that matched the filter.
  adopt(rows, total, query) {
    if (this.isAll && query !== this.#query) this.clear();
    this.total = total;
    this.#query = query;
    for (const { id, dataset } of rows) if (this.#exceptions.has(id)) this.#exceptions.set(id, dataset.bytes);
    if (!this.isAll && !query && rows.length >= total) this.#keep(rows);
  }

  // Forget the rows that are gone, once all that are left are loaded.
  #keep(rows) {
    const keys = new Set(rows.map(({ id }) => id));
    for (const key of this.#exceptions.keys()) if (!keys.has(key)) this.#exceptions.delete(key);
  }

  // Return the fields of a form that sends the selection, besides the ticked rows, which it has already.
  fields(tickedKeys) {
    const keys = [...this.#exceptions.keys()];
    if (this.isAll) return [["all", "1"], ...keys.map((key) => ["but", key])];
    return keys.filter((key) => !tickedKeys.includes(key)).map((key) => ["entry", key]);
  }
}
