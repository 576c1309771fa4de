// SPDX-License-Identifier: Apache-2.0
// The shims of tests/faults/shim from a test's side: how a program gets one, and what the test says to it while it runs.
import { closeSync, openSync, readSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const FIELDS = ["countdown", "hits", "calls", "kinds", "code", "isSticky", "offsetS"] as const; // struct fault_control
type Field = (typeof FIELDS)[number];

export const KIND = { write: 1, sync: 2, truncate: 4, open: 8, read: 16, name: 32 };
export const MEMORY = { sqlite: 1, jansson: 2, libmicrohttpd: 4, input: 8 }; // of fault_memory: whose allocations
export const ERRNO = { EIO: 5, ENOMEM: 12, ENOSPC: 28, EROFS: 30, EDQUOT: 122 };

export class Control {
  private readonly fd: number;

  constructor(readonly path: string) {
    writeFileSync(path, Buffer.alloc(4096));
    this.fd = openSync(path, "r+");
  }

  set(values: Partial<Record<Field, number>>): void {
    for (const [name, value] of Object.entries(values)) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(value));
      writeSync(this.fd, bytes, 0, 8, 8 * FIELDS.indexOf(name as Field));
    }
  }

  get(name: Field): number {
    const bytes = Buffer.alloc(8);
    readSync(this.fd, bytes, 0, 8, 8 * FIELDS.indexOf(name));
    return Number(bytes.readBigInt64LE());
  }

  /** The k-th call of these kinds from now on fails. */
  arm(k: number, kinds: number, code: number, isSticky = false): void {
    this.set({ countdown: 0, hits: 0, calls: 0, kinds, code, isSticky: isSticky ? 1 : 0 });
    this.set({ countdown: k });
  }

  /** How many calls failed since. */
  disarm(): number {
    this.set({ isSticky: 0 });
    this.set({ countdown: 0, kinds: 0 });
    return this.get("hits");
  }

  close(): void {
    closeSync(this.fd);
  }
}

/** The environment of a program that is to have the shim. AddressSanitizer wants to be first, and need not be. */
export function shimEnvironment(name: "io" | "power" | "memory" | "clock", more: Record<string, string> = {}): Record<string, string> {
  const library = join(process.env.BREAKEVEN_BIN_DIR!, "..", "tests", "faults", `fault_${name}.so`);
  const asan = [process.env.ASAN_OPTIONS, "verify_asan_link_order=0", "allocator_may_return_null=1"].filter(Boolean).join(":");
  return { LD_PRELOAD: library, ASAN_OPTIONS: asan, ...more };
}
