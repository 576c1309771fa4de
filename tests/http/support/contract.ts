// SPDX-License-Identifier: Apache-2.0
// Holds answers against the served contract: status, media type and body of the operation that the path belongs to.
import assert from "node:assert/strict";
import Ajv2020, { type ValidateFunction } from "ajv/dist/2020.js";

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  json: Json;
}

export class Contract {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor(readonly document: Json) {
    this.ajv.addSchema(document, "contract");
  }

  /** The path item's template for a concrete path; literal segments win over {name}. */
  template(path: string): string {
    const parts = path.split("?")[0]!.split("/");
    const fits = Object.keys(this.document.paths).filter((template) => {
      const wanted = template.split("/");
      return wanted.length === parts.length && wanted.every((w, i) => matchesSegment(w, parts[i]!));
    });
    fits.sort((a, b) => a.split("{").length - b.split("{").length);
    assert.ok(fits[0], `the contract has no path for ${path}`);
    return fits[0]!;
  }

  check(method: string, path: string, answer: Answer): void {
    const template = this.template(path);
    const operation = this.document.paths[template][method.toLowerCase()];
    const where = `${method} ${path} -> ${answer.status}`;
    assert.ok(operation, `${where}: not in the contract`);
    const response = this.resolve(operation.responses[String(answer.status)] ?? operation.responses.default);
    assert.ok(response, `${where}: no such answer in the contract`);
    if (answer.status === 304 || answer.status === 204) assert.equal(answer.text, "", where);
    const type = (answer.headers.get("content-type") ?? "").split(";")[0]!;
    if (!response.content || answer.status === 304) return;
    const media = response.content[type];
    assert.ok(media, `${where}: ${type || "no type"} is none of ${Object.keys(response.content)}`);
    if (type.endsWith("json")) this.validate(media.schema, answer.json, where);
  }

  validate(schema: Json, value: unknown, where: string): void {
    const key = JSON.stringify(schema);
    let validator = this.compiled.get(key);
    if (!validator) {
      validator = this.ajv.compile(absolute(schema));
      this.compiled.set(key, validator);
    }
    assert.ok(validator(value), `${where}: ${JSON.stringify(validator.errors?.slice(0, 5))}\n${String(JSON.stringify(value)).slice(0, 600)}`);
  }

  resolve(value: Json): Json {
    if (!value?.$ref) return value;
    return (value.$ref as string).slice(2).split("/").reduce((at, part) => at?.[part.replaceAll("~1", "/").replaceAll("~0", "~")], this.document);
  }
}

function matchesSegment(wanted: string, part: string): boolean {
  const open = wanted.indexOf("{");
  if (open < 0) return wanted === part;
  const tail = wanted.slice(wanted.indexOf("}") + 1);
  return part.startsWith(wanted.slice(0, open)) && part.endsWith(tail) && part.length > open + tail.length;
}

/** References of a schema taken out of the document are made to point back into it. */
function absolute(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(absolute);
  if (schema === null || typeof schema !== "object") return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, inner]) => [
      key,
      key === "$ref" && typeof inner === "string" && inner.startsWith("#") ? `contract${inner}` : absolute(inner),
    ]),
  );
}
