// SPDX-License-Identifier: Apache-2.0
// The rules of the house as functions over a tree of files: each takes files and returns what breaks the rule, one line each.

export type Tree = Map<string, string>; // path from the root -> text

const CODE = /\.(c|h|cc|m)$/;
const PROGRAM = /^(schema|server|runner)\//;

/** Where a folder's project includes may point: the longest prefix that matches a file wins. Arrows go down only. */
export const ALLOWED_INCLUDES: Record<string, string[]> = {
  "schema/": ["schema/"],
  "runner/": ["runner/", "schema/"],
  "runner/measure/": ["runner/measure/", "schema/"],
  "runner/pool/": ["runner/pool/", "schema/"],
  "server/http/": ["server/http/", "schema/"],
  "server/store/": ["server/store/", "schema/"],
  "server/analysis/": ["server/analysis/", "schema/"],
  "server/work/": ["server/work/", "server/analysis/", "server/store/", "schema/"],
  "server/demo/": ["server/demo/", "server/work/", "server/store/", "schema/"],
  "server/access/": ["server/access/", "server/http/", "server/store/", "schema/"],
  "server/api/": ["server/api/", "server/access/", "server/http/", "server/work/", "server/analysis/", "server/store/", "server/context.h", "server/routes.h", "schema/"],
  "server/pages/": ["server/pages/", "server/access/", "server/http/", "server/work/", "server/analysis/", "server/store/", "server/context.h", "server/routes.h", "schema/", "web/"],
  "server/": ["server/", "schema/"],
};

/** Each library has one room. */
export const LIBRARY_ROOMS: [RegExp, RegExp][] = [
  [/^microhttpd\.h$/, /^server\/http\//],
  [/^zlib\.h$/, /^server\/http\//],
  [/^sqlite3\.h$/, /^server\/store\/sqlite/],
  [/^libpq/, /^server\/store\/postgres/],
  [/^hwloc/, /^runner\/machine\//],
  [/^curl\//, /^(runner\/deliver\/|server\/work\/notify)/],
  [/^jansson\.h$/, /^(schema|server\/api|server\/access|runner)\//],
  [/^gnutls\//, /^server\/http\/(http_tls\.c|http_internal\.h)$/],
  [/^rhonabwy\.h$/, /^server\/access\/oidc\.c$/],
];

function longestPrefix(path: string, prefixes: string[]): string | undefined {
  return prefixes.filter((p) => path.startsWith(p)).sort((a, b) => b.length - a.length)[0];
}

function programFiles(tree: Tree): [string, string][] {
  return [...tree].filter(([path]) => CODE.test(path) && PROGRAM.test(path));
}

export function includesPointDown(tree: Tree): string[] {
  const broken: string[] = [];
  for (const [path, text] of programFiles(tree)) {
    const folder = longestPrefix(path, Object.keys(ALLOWED_INCLUDES));
    for (const [, target] of text.matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)) {
      if (!folder || !ALLOWED_INCLUDES[folder]!.some((allowed) => target!.startsWith(allowed)))
        broken.push(`${path}: must not include "${target}"`);
    }
  }
  return broken;
}

export function librariesStayInTheirRooms(tree: Tree): string[] {
  const broken: string[] = [];
  for (const [path, text] of programFiles(tree))
    for (const [, header] of text.matchAll(/^\s*#\s*include\s+<([^>]+)>/gm))
      for (const [library, room] of LIBRARY_ROOMS)
        if (library.test(header!) && !room.test(path)) broken.push(`${path}: <${header}> belongs only in ${room.source}`);
  return broken;
}

/** Text without comments, strings and character literals (their places are kept by spaces and line ends). */
export function stripped(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g, (m) => m.replace(/[^\n]/g, " "));
}

export interface CFunction { name: string; line: number; lines: number; parameters: number; }

/** Functions by the house's own style: the body's braces stand in the first column. */
export function functionsOf(text: string): CFunction[] {
  const found: CFunction[] = [];
  const code = stripped(text);
  for (const match of code.matchAll(/^([A-Za-z_][^\n;{}#=]*(?:\n[^\n;{}#=]+)*)\n\{\n([\s\S]*?)^\}/gm)) {
    const signature = match[1]!;
    const open = signature.indexOf("(");
    if (open < 0) continue;
    const name = /(\w+)\s*$/.exec(signature.slice(0, open))?.[1] ?? signature;
    found.push({
      name, line: code.slice(0, match.index).split("\n").length,
      lines: match[2]!.split("\n").length - 1, parameters: parametersOf(signature.slice(open)),
    });
  }
  return found;
}

/** Callbacks whose parameters a library dictates. */
const DICTATED = new Set(["http_exchange_access", "pair_retrieve"]);

function parametersOf(list: string): number {
  let depth = 0, commas = 0, end = 0;
  for (; end < list.length; end++) {
    const c = list[end];
    if (c === "(") depth++;
    else if (c === ")" && --depth === 0) break;
    else if (c === "," && depth === 1) commas++;
  }
  const inside = list.slice(1, end).trim();
  return inside === "" || inside === "void" ? 0 : commas + 1;
}

export function sizesAreBounded(tree: Tree): string[] {
  const broken: string[] = [];
  for (const [path, text] of tree) {
    if (!/\.(c|h|cc|m|ts)$/.test(path)) continue;
    const lines = text.split("\n").length - 1;
    if (lines > 600) broken.push(`${path}: ${lines} lines, at most 600`);
    if (!CODE.test(path)) continue;
    for (const f of functionsOf(text)) {
      if (f.lines > 60) broken.push(`${path}:${f.line}: ${f.name} has ${f.lines} lines, at most 60`);
      if (f.parameters > 6 && !DICTATED.has(f.name)) broken.push(`${path}:${f.line}: ${f.name} takes ${f.parameters} parameters, at most 6`);
    }
  }
  return broken;
}

/** A .c and a .h may share a base name where they share the folder; nothing else may. main.c is each program's. */
export function baseNamesAreUnique(tree: Tree): string[] {
  const owners = new Map<string, Set<string>>();
  for (const path of tree.keys()) {
    if (!CODE.test(path) || /(^|\/)main\.c$/.test(path)) continue;
    const base = path.replace(/^.*\//, "").replace(/\.\w+$/, "");
    owners.set(base, (owners.get(base) ?? new Set()).add(path.replace(/\.\w+$/, "")));
  }
  return [...owners].filter(([, paths]) => paths.size > 1).map(([base, paths]) => `${base}: ${[...paths].join(" and ")}`);
}

const MAY_PRINT = /^(server\/main\.c|server\/log\.c|runner\/main\.c|runner\/show\/)/;
const FORBIDDEN: [string, RegExp, RegExp | null][] = [
  ["writes to stdout or stderr", /\b(printf|puts|putchar|perror|g_print|g_printerr|g_message|g_warning|g_critical)\s*\(|\bfprintf\s*\(\s*(stdout|stderr)\b|\bfputs\s*\([^;]*\b(stdout|stderr)\s*\)/, MAY_PRINT],
  ["ends the process", /\b(exit|abort|g_error)\s*\(/, /^(server|runner)\/main\.c$/],
  ["uses GLib's threads, which ThreadSanitizer cannot see", /\bg_(thread|mutex|rw_lock|rec_mutex|cond|async_queue|thread_pool)_\w+\s*\(/, /^runner\/executors\/glib\.c$/],
  ["uses GLib's random numbers", /\bg_(random|rand)_\w+\s*\(/, null],
  ["uses an unbounded or unsafe function", /\b(gets|strcpy|strcat|sprintf|vsprintf|strtok|alloca|g_alloca|atoi|atol|atof|gmtime|localtime|system|popen)\s*\(/, null],
];

export function forbiddenCallsAreAbsent(tree: Tree): string[] {
  const broken: string[] = [];
  for (const [path, text] of programFiles(tree)) {
    stripped(text).split("\n").forEach((line, index) => {
      for (const [what, pattern, exempt] of FORBIDDEN)
        if (pattern.test(line) && !exempt?.test(path)) broken.push(`${path}:${index + 1}: ${what}: ${line.trim()}`);
    });
  }
  return broken;
}

export function sqlStaysInTheStore(tree: Tree): string[] {
  return programFiles(tree)
    .filter(([path, text]) => !path.startsWith("server/store/sqlite") && /"\s*(SELECT|INSERT INTO|DELETE FROM|UPDATE|PRAGMA|BEGIN)\s/.test(text))
    .map(([path]) => `${path}: holds SQL`);
}

export function filesOpenWithTheirPurpose(tree: Tree): string[] {
  return programFiles(tree)
    .filter(([, text]) => !/^\/\* SPDX-License-Identifier: Apache-2\.0\n \* \S/.test(text))
    .map(([path]) => `${path}: must open with the licence line and a paragraph that says what it is for`);
}

export function nothingIsLeftOpen(tree: Tree): string[] {
  const broken: string[] = [];
  const marks = new RegExp(`\\b(${["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"].join("|")})\\b`);
  for (const [path, text] of tree)
    if (/\.(c|h|cc|m|ts|sh|sql|css)$/.test(path) && marks.test(text)) broken.push(`${path}: ${marks.exec(text)![0]}`);
  return broken;
}

export function lockFilesNameNoHost(tree: Tree): string[] {
  return [...tree].filter(([path, text]) => path.endsWith("package-lock.json") && text.includes('"resolved"')).map(([path]) => `${path}: names a registry ("resolved")`);
}

/** Every path in backticks in the READMEs is a file or folder of the tree; {a,b} and * stand for several. */
export function readmeNamesExistingFiles(tree: Tree): string[] {
  const paths = [...tree.keys()];
  const expand = (p: string): string[] => {
    const brace = /^(.*)\{([^}]*)\}(.*)$/.exec(p);
    return brace ? brace[2]!.split(",").flatMap((choice) => expand(brace[1]! + choice + brace[3]!)) : [p];
  };
  const exists = (p: string): boolean => {
    const pattern = new RegExp("^" + p.replace(/[.+?^$()|[\]\\]/g, "\\$&").replace(/\*/g, "[^/]*") + (p.endsWith("/") ? "" : "(/|$)"));
    return paths.some((path) => pattern.test(path));
  };
  return ["README.md", "server/README.md"].flatMap((readme) => {
    const named = [...(tree.get(readme) ?? "").matchAll(/`((?:schema|server|runner|web|deploy|tests)\/[^`\s]*)`/g)].map((m) => m[1]!);
    return named.flatMap(expand).filter((p) => !exists(p)).map((p) => `${readme}: ${p} does not exist`);
  });
}

/** server/README.md tells of every thread that the server starts, and of every lock: as many rows as there are locks in a file. */
export function serverReadmeTellsThreadsAndLocks(tree: Tree): string[] {
  const readme = tree.get("server/README.md") ?? "", broken: string[] = [];
  const locks = readme.slice(readme.indexOf("## The locks")).split("\n").filter((line) => line.startsWith("|"));
  for (const [path, text] of programFiles(tree).filter(([p]) => p.startsWith("server/"))) {
    const code = stripped(text);
    for (const [, routine] of code.matchAll(/pthread_create\([^;]*?,[^;]*?,\s*(\w+)\s*,/g))
      if (!readme.includes(`\`${path}\` | \`${routine}\``)) broken.push(`${path}: the thread ${routine} is not in server/README.md`);
    const declared = [...code.matchAll(/^\s+pthread_(?:mutex|rwlock|spinlock)_t\s+\w+;/gm)].length;
    const told = locks.filter((line) => line.includes(`\`${path}\``)).length;
    if (declared !== told) broken.push(`${path}: declares ${declared} locks, server/README.md tells of ${told}`);
  }
  return broken;
}
