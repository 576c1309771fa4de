// SPDX-License-Identifier: Apache-2.0
// Holds schema/run.schema.json to the same documents as the codec (test_run_documents.c): what is good is taken by both, what is
// bad refused by both; what JSON Schema cannot express (bad-beyond-schema) is taken by it, so that the folder keeps its meaning.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";

const root = process.env["BREAKEVEN_SOURCE_DIR"] ?? ".";
const schema = JSON.parse(readFileSync(`${root}/schema/run.schema.json`, "utf8")) as object;
const validate = new Ajv2020({ strict: true, strictRequired: false, allErrors: true }).compile(schema);

function documents(folder: string): [string, Buffer][] {
  const path = `${root}/tests/unit/schema/documents/${folder}`;
  return readdirSync(path).filter((name) => name.endsWith(".json")).map((name) => [name, readFileSync(`${path}/${name}`)]);
}

// What is not JSON at all is refused before any schema.
function refusal(bytes: Buffer): string | null {
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    return String(error);
  }
  return validate(document) ? null : JSON.stringify(validate.errors);
}

test("good documents are taken", () => {
  const cases = documents("good");
  assert.ok(cases.length >= 20);
  for (const [name, bytes] of cases) assert.equal(refusal(bytes), null, name);
});

test("bad documents are refused", () => {
  const cases = documents("bad");
  assert.ok(cases.length >= 100);
  for (const [name, bytes] of cases) assert.notEqual(refusal(bytes), null, `${name} is taken`);
});

test("what JSON Schema cannot express is not refused by it", () => {
  // Bytes that no JSON parser takes, or that JavaScript's turns into Infinity, never reach the schema as they are.
  const unreadable = new Set(["invalid-utf-8.json", "number-overflows.json"]);
  const cases = documents("bad-beyond-schema").filter(([name]) => !unreadable.has(name));
  assert.ok(cases.length >= 20);
  for (const [name, bytes] of cases) assert.equal(refusal(bytes), null, `${name} belongs into bad/`);
});
