// Writes src/schema.ts from the OpenAPI document: node generate.mjs DOCUMENT

import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const reference = (name) =>
  ts.factory.createTypeReferenceNode(ts.factory.createIdentifier(name));
const orNull = (type, schema) =>
  [schema.type].flat().includes("null")
    ? ts.factory.createUnionTypeNode([
        type,
        ts.factory.createLiteralTypeNode(ts.factory.createNull()),
      ])
    : type;

const types = await openapiTS(JSON.parse(await readFile(process.argv[2], "utf8")), {
  // Fields with a default are optional in requests, and always sent in answers.
  defaultNonNullable: false,
  transform(schema) {
    if (schema.format === "binary") {
      return orNull(reference("Blob"), schema);
    }
    if (schema["x-decimal"]) {
      return orNull(reference("Decimal"), schema);
    }
  },
});
const head = 'import type { Decimal } from "./decimals.js";\n\n';
await writeFile(new URL("src/schema.ts", import.meta.url), head + astToString(types));
