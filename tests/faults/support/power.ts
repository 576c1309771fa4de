// SPDX-License-Identifier: Apache-2.0
// What a loss of power may leave of the files of a program that ran with the shim fault_power: whatever was flushed, and of the rest any part:
// each write may be there or not, whole or torn at the disk's sectors, each change of a length, each new name and each removal, too.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const SECTOR_BYTES = 512;
const HEAD_BYTES = 24; // struct record
const KIND = { write: 1, truncate: 2, syncBegins: 3, syncDone: 4, create: 5, unlink: 6 };

interface Change {
  kind: number;
  offset: number;
  data: Buffer;
  flush: number; // how many flushes of its file had begun before it
}

interface Record {
  kind: number;
  path: string;
  offset: number;
  data: Buffer;
}

function* recordsOf(log: Buffer): Generator<Record> {
  for (let at = 0; at + HEAD_BYTES <= log.length; ) {
    const pathBytes = log.readUInt32LE(at + 4), dataBytes = Number(log.readBigInt64LE(at + 16));
    const end = at + HEAD_BYTES + pathBytes + dataBytes;
    if (end > log.length) return; // killed while it wrote this down: it was not done either
    yield {
      kind: log.readUInt32LE(at),
      offset: Number(log.readBigInt64LE(at + 8)),
      path: log.toString("utf8", at + HEAD_BYTES, at + HEAD_BYTES + pathBytes),
      data: log.subarray(at + HEAD_BYTES + pathBytes, end),
    };
    at = end;
  }
}

class File {
  bytes: Buffer;
  changes: Change[] = []; // that are not flushed
  isNamed: boolean; // its name is on the disk
  isRemoved = false;

  constructor(bytes: Buffer, isNamed: boolean) {
    this.bytes = bytes;
    this.isNamed = isNamed;
  }

  write(offset: number, data: Buffer): void {
    const end = offset + data.length;
    if (end > this.bytes.length) this.bytes = Buffer.concat([this.bytes, Buffer.alloc(end - this.bytes.length)]);
    data.copy(this.bytes, offset);
  }

  apply(change: Change): void {
    if (change.kind === KIND.write) this.write(change.offset, change.data);
    else if (change.offset <= this.bytes.length) this.bytes = Buffer.from(this.bytes.subarray(0, change.offset));
    else this.write(this.bytes.length, Buffer.alloc(change.offset - this.bytes.length));
  }

  flush(isFlushed: (change: Change) => boolean): void {
    for (const change of this.changes) if (isFlushed(change)) this.apply(change);
    this.changes = this.changes.filter((change) => !isFlushed(change));
  }

  /** Some of what was not flushed. */
  lose(random: () => number, survives: number): number {
    let lost = 0;
    for (const change of this.changes) {
      if (change.kind !== KIND.write) {
        if (random() < survives) this.apply(change);
        continue;
      }
      const first = SECTOR_BYTES - (change.offset % SECTOR_BYTES);
      const isTorn = random() < 0.5, isThere = random() < survives;
      for (let at = 0; at < change.data.length; at += at === 0 ? first : SECTOR_BYTES) {
        const sector = change.data.subarray(at, at === 0 ? first : at + SECTOR_BYTES);
        if (isTorn ? random() < survives : isThere) this.write(change.offset + at, sector);
        else lost++;
      }
    }
    return lost;
  }
}

export interface Loss {
  flushes: number;
  lostSectors: number;
}

/** Lays out in `folder` what may be left. `before`: its files as they were when the program started (a snapshot of it). */
export function losePower(folder: string, before: Map<string, Buffer>, log: string, random: () => number): Loss {
  const files = new Map<string, File>();
  for (const [path, bytes] of before) files.set(path, new File(Buffer.from(bytes), true));
  const begun = new Map<string, number>(); // flushes of a file
  const numbers = new Map<number, number>(); // number of a flush -> how many of its file had begun before it
  const names = new Map<number, [string, File][]>(); // number of a folder's flush -> what was in it, or removed from it, when that began
  let flushes = 0;
  for (const { kind, path, offset, data } of recordsOf(readFileSync(log))) {
    const file = files.get(path);
    if (kind === KIND.create) {
      if (!file || file.isRemoved) files.set(path, new File(Buffer.alloc(0), false));
    } else if (kind === KIND.unlink) {
      if (file) file.isRemoved = true;
    } else if (kind === KIND.syncBegins) {
      numbers.set(offset, begun.get(path) ?? 0);
      begun.set(path, (begun.get(path) ?? 0) + 1);
      names.set(offset, [...files].filter(([name, one]) => dirname(name) === path && (one.isRemoved || !one.isNamed)));
    } else if (kind === KIND.syncDone) {
      flushes++;
      const number = numbers.get(offset)!;
      file?.flush((change) => change.flush <= number);
      for (const [name, one] of names.get(offset)!)
        if (!one.isRemoved) one.isNamed = true;
        else if (files.get(name) === one) files.delete(name);
    } else {
      const changed = file ?? new File(Buffer.alloc(0), false);
      files.set(path, changed);
      changed.changes.push({ kind, offset, data, flush: begun.get(path) ?? 0 });
    }
  }
  const survives = [0, 0.2, 0.5, 0.8, 1][Math.floor(random() * 5)]!;
  let lostSectors = 0;
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  for (const [path, file] of files) {
    const name = basename(path);
    if (name.endsWith("-shm")) continue; // memory, not a file
    if (file.isRemoved && random() < 0.5) continue;
    lostSectors += file.lose(random, survives);
    if (file.isNamed || random() < survives) writeFileSync(path, file.bytes);
  }
  return { flushes, lostSectors };
}

export function filesOf(folder: string): Map<string, Buffer> {
  return new Map(readdirSync(folder).map((name) => [join(folder, name), readFileSync(join(folder, name))]));
}
