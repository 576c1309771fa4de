// SPDX-License-Identifier: Apache-2.0
// Holds the tree to the rules of the house, and each rule to an example that breaks it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as rules from "./house_rules";

const root = process.env["BREAKEVEN_SOURCE_DIR"] ?? ".";

function tracked(): rules.Tree {
  const listed = execFileSync("git", ["-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], { encoding: "utf8" });
  const tree: rules.Tree = new Map();
  for (const path of listed.split("\0").filter(Boolean)) {
    try {
      tree.set(path, readFileSync(`${root}/${path}`, "utf8"));
    } catch {
      // deleted, and not yet told to git
    }
  }
  return tree;
}

const tree = tracked();

const CASES: [string, (tree: rules.Tree) => string[], Record<string, string>][] = [
  ["includes point down", rules.includesPointDown, { "server/http/a.c": '#include "server/store/store.h"\n' }],
  ["runner and server stay apart", rules.includesPointDown, { "runner/a.c": '#include "server/http/http.h"\n' }],
  ["libraries stay in their rooms", rules.librariesStayInTheirRooms, { "server/api/a.c": "#include <sqlite3.h>\n" }],
  ["a file has a bounded size", rules.sizesAreBounded, { "schema/a.c": "\n".repeat(601) }],
  ["a function has a bounded size", rules.sizesAreBounded, { "schema/a.c": `int a(void)\n{\n${"    b();\n".repeat(61)}}\n` }],
  ["a function takes few parameters", rules.sizesAreBounded, { "schema/a.c": "int a(int b, int c, int d,\n      int (*e)(int, int), int f, int g, int h)\n{\n    return 0;\n}\n" }],
  ["base names are unique", rules.baseNamesAreUnique, { "server/http/a.c": "", "server/api/a.c": "" }],
  ["printing is for main, show and log", rules.forbiddenCallsAreAbsent, { "server/api/a.c": 'printf("x");\n' }],
  ["nothing but main ends the process", rules.forbiddenCallsAreAbsent, { "schema/a.c": "    exit(1);\n" }],
  ["SQL stays in the store", rules.sqlStaysInTheStore, { "server/api/a.c": '"SELECT id FROM run"' }],
  ["files open with their purpose", rules.filesOpenWithTheirPurpose, { "schema/a.c": "int a;\n" }],
  ["nothing is left open", rules.nothingIsLeftOpen, { "schema/a.c": "/* TO" + "DO */" }],
  ["lock files name no host", rules.lockFilesNameNoHost, { "web/package-lock.json": '{"resolved": "x"}' }],
  ["the server's README tells of every lock", rules.serverReadmeTellsThreadsAndLocks, { "server/http/a.h": "struct a {\n    pthread_mutex_t lock;\n};\n" }],
  ["the server's README tells of every thread", rules.serverReadmeTellsThreadsAndLocks, { "server/http/a.c": "    pthread_create(&a, NULL, a_main, a);\n" }],
  ["the README names files that exist", rules.readmeNamesExistingFiles, { "README.md": "`schema/missing.h`" }],
];

for (const [name, rule, bad] of CASES) {
  test(name, () => {
    assert.notDeepEqual(rule(new Map(Object.entries(bad))), [], "the rule does not see its own bad example");
    assert.deepEqual(rule(tree), []);
  });
}

test("functions are found by their braces", () => {
  const text = "static int a(const char *s, int (*f)(int, int))\n{\n    if (s) {\n    }\n    return 0;\n}\n\nstruct x {\n    int y;\n};\n";
  assert.deepEqual(rules.functionsOf(text), [{ name: "a", line: 1, lines: 3, parameters: 2 }]);
});
