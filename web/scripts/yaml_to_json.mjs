// SPDX-License-Identifier: Apache-2.0
// Makes the API's contract as it is served: schema/openapi.yaml as JSON, with the run document's JSON Schema put in as
// components.schemas.RunDocument, so that one file says it all.
// node yaml_to_json.mjs OPENAPI.yaml RUN.schema.json OUT.json
import { readFileSync, writeFileSync } from "node:fs";
import { parse } from "yaml";

const [, , openapiPath, runSchemaPath, outPath] = process.argv;
const ROOT = "#/components/schemas/RunDocument";

/** References inside the run's schema are relative to it; in here it has another place. */
function rerooted(value) {
  if (Array.isArray(value)) return value.map(rerooted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === "$ref" && typeof inner === "string" && inner.startsWith("#") ? ROOT + inner.slice(1) : rerooted(inner),
    ]),
  );
}

const openapi = parse(readFileSync(openapiPath, "utf8"), { strict: true, uniqueKeys: true });
const { $schema, $id, ...runSchema } = rerooted(JSON.parse(readFileSync(runSchemaPath, "utf8")));
openapi.components.schemas.RunDocument = runSchema;
writeFileSync(outPath, JSON.stringify(openapi) + "\n");
