// SPDX-License-Identifier: Apache-2.0
// The page's state lives in its address: what is set here is kept by a reload and by whoever gets the link.

export function setAddress(changes: Record<string, string | null>): void {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  history.replaceState(null, "", url);
}

export function getAddress(name: string): string | null {
  return new URL(location.href).searchParams.get(name);
}
