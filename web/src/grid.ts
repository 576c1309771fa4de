// SPDX-License-Identifier: Apache-2.0
// Tables that are walked by arrow keys: one stop of the grid is in the order of Tab; arrows, Home and End move it (with Ctrl to the
// first and the last row). A cell's stops are its links, or itself. Without script they are plain tables with links.

type Place = [row: number, cell: number, link: number];

class Grid {
  private readonly rows: HTMLElement[][][];
  private at: Place;

  constructor(table: HTMLTableElement) {
    this.rows = Array.from(table.rows, (row) => Array.from(row.cells, (cell) => {
      const links = Array.from(cell.querySelectorAll("a"));
      return links.length > 0 ? links : [cell];
    }));
    table.setAttribute("role", "grid");
    for (const stop of this.rows.flat(2)) stop.tabIndex = -1;
    this.at = [Math.min(1, this.rows.length - 1), 0, 0];
    this.stop().tabIndex = 0;
    table.addEventListener("keydown", (event) => this.key(event));
    table.addEventListener("focusin", (event) => this.focused(event.target as HTMLElement));
  }

  private stop([row, cell, link]: Place = this.at): HTMLElement {
    return this.rows[row]![cell]![link]!;
  }

  private setStop(at: Place): void {
    this.stop().tabIndex = -1;
    this.at = at;
    this.stop().tabIndex = 0;
  }

  private focused(target: HTMLElement): void {
    this.rows.forEach((cells, row) => cells.forEach((links, cell) => {
      const link = links.indexOf(target);
      if (link >= 0) this.setStop([row, cell, link]);
    }));
  }

  /** The place, or the nearest that there is. */
  private near(row: number, cell: number, link: number): Place {
    const between = (value: number, n: number): number => Math.min(n - 1, Math.max(0, value));
    const r = between(row, this.rows.length), c = between(cell, this.rows[r]!.length);
    return [r, c, between(link, this.rows[r]![c]!.length)];
  }

  private key(event: KeyboardEvent): void {
    if (event.altKey || event.metaKey || event.shiftKey) return;
    const [row, cell, link] = this.at, last = this.rows.length - 1, far = event.ctrlKey;
    const isLast = link === this.rows[row]![cell]!.length - 1;
    const moves: Record<string, Place> = {
      ArrowLeft: link > 0 ? [row, cell, link - 1] : [row, cell - 1, cell > 0 ? Infinity : 0], ArrowRight: isLast ? [row, cell + 1, cell + 1 < this.rows[row]!.length ? 0 : link] : [row, cell, link + 1],
      ArrowUp: [row - 1, cell, link], ArrowDown: [row + 1, cell, link],
      Home: [far ? 0 : row, 0, 0], End: [far ? last : row, Infinity, Infinity],
    };
    const to = moves[event.key];
    if (!to || (far && event.key.startsWith("Arrow"))) return;
    event.preventDefault();
    this.setStop(this.near(...to));
    this.stop().focus();
  }
}

export function startGrids(): void {
  for (const table of Array.from(document.querySelectorAll<HTMLTableElement>("table[data-grid]"))) if (table.rows.length > 0) new Grid(table);
}
