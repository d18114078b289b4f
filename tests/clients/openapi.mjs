// Validates an OpenAPI document (the file in the first argument) against the schema of its version, and checks what the
// schema does not cover: references resolve, path parameters are declared exactly, operation ids are unique, and security
// schemes exist.
import { readFile } from "node:fs/promises";
import { Validator } from "@seriousme/openapi-schema-validator";

const document = JSON.parse(await readFile(process.argv[2], "utf8"));
const faults = [];

const validator = new Validator();
const { valid, errors } = await validator.validate(structuredClone(document));
if (!valid) faults.push(...[errors].flat().map((error) => (typeof error === "string" ? error : JSON.stringify(error))));

const follow = (value, place) => {
  if (value === null || typeof value !== "object") return;
  // Examples are data; a "$ref" in them is a field of a recorded response.
  for (const [key, inner] of Object.entries(value)) {
    if (key === "example" || key === "examples") continue;
    if (key === "$ref" && typeof inner === "string") {
      const parts = inner.replace(/^#\//, "").split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
      const found = parts.reduce((at, part) => at?.[part], document);
      if (!inner.startsWith("#/") || found === undefined) faults.push(`${place}: ${inner} does not resolve (a type that only parameters use? register it in crates/api/src/document.rs)`);
    } else {
      follow(inner, `${place}/${key}`);
    }
  }
};
follow(document, "#");

const names = new Set();
let operations = 0;
for (const [path, item] of Object.entries(document.paths)) {
  const inPath = [...path.matchAll(/{([^}]+)}/g)].map((match) => match[1]).sort();
  for (const [method, operation] of Object.entries(item)) {
    operations += 1;
    const operationName = `${method.toUpperCase()} ${path}`;
    const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
    if (JSON.stringify(declared.map((parameter) => parameter.name).sort()) !== JSON.stringify(inPath))
      faults.push(`${operationName}: the declared path parameters differ from those of the path`);
    if (names.has(operation.operationId)) faults.push(`${operationName}: operationId ${operation.operationId} is not unique`);
    names.add(operation.operationId);
    for (const security of operation.security ?? [])
      for (const scheme of Object.keys(security))
        if (!document.components.securitySchemes[scheme]) faults.push(`${operationName}: unknown security scheme ${scheme}`);
  }
}

if (faults.length > 0) {
  console.log(`not ok: ${faults.length} faults\n${faults.slice(0, 40).join("\n")}`);
  process.exitCode = 1;
} else {
  console.log(`ok: OpenAPI ${document.openapi}, ${operations} operations`);
}
