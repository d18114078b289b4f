// Query keys are written in src/api/queryKeys.ts only, and only there is the cache changed or searched by a key prefix, so
// that queries with data of different shapes never share a key.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import ts from "typescript";

const CALLS = new Set(["setQueriesData", "getQueriesData"]);
/** Methods whose first argument is a key. */
const BY_KEY = new Set(["setQueryData", "getQueryData", "getQueryState", "setQueryDefaults"]);

const isLiteral = (node) => {
  const bare =
    ts.isAsExpression(node) || ts.isParenthesizedExpression(node) || ts.isSatisfiesExpression(node)
      ? node.expression
      : node;
  return ts.isArrayLiteralExpression(bare);
};

/** Returns the violations in a source file, each with its line number. */
export function faults(name, text) {
  const found = [];
  const source = ts.createSourceFile(
    name,
    text,
    ts.ScriptTarget.Latest,
    true,
    name.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  );
  const families = /queryKeys\.ts$/.test(name);
  // Identifiers in this file that are bound to array literals.
  const arrays = new Set();
  const report = (node, what) =>
    found.push(`${name}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${what}`);
  const collect = (node) => {
    if (ts.isVariableDeclaration(node) && node.initializer && ts.isIdentifier(node.name) && isLiteral(node.initializer))
      arrays.add(node.name.text);
    ts.forEachChild(node, collect);
  };
  const isOwn = (node) => isLiteral(node) || (ts.isIdentifier(node) && arrays.has(node.text));
  const look = (node) => {
    if (ts.isPropertyAssignment(node) && node.name.getText() === "queryKey" && isOwn(node.initializer))
      report(node, "a query key is written here; take it from api/queryKeys");
    if (ts.isShorthandPropertyAssignment(node) && node.name.text === "queryKey" && arrays.has("queryKey"))
      report(node, "a query key is written here; take it from api/queryKeys");
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const method = node.expression.name.text;
      if (CALLS.has(method))
        report(node, `${method} reaches every key with this beginning; use getFamily or updateFamily of api/queryKeys`);
      if (BY_KEY.has(method) && node.typeArguments)
        report(node, `${method} gets its type from the key; make it a Key of its data in api/queryKeys`);
      if (BY_KEY.has(method) && node.arguments[0] && isOwn(node.arguments[0]))
        report(node, "a query key is written here; take it from api/queryKeys");
    }
    ts.forEachChild(node, look);
  };
  if (!families) {
    collect(source);
    look(source);
  }
  return found;
}

/** Samples of handwritten keys; the check must find each of them. */
const SAMPLES = [
  'useQuery({ queryKey: ["board", id, "later"], queryFn })',
  'cache.invalidateQueries({ queryKey: ["board"] })',
  'const KEY = ["a"]; useQuery({ queryKey: KEY })',
  'const queryKey = ["a", b] as const; useQuery({ queryKey })',
  'cache.setQueryData(["groups", "mine"], [])',
  'cache.getQueryData<Me>(["me"])',
  "cache.getQueryData<Me>(queryKeys.me.self())",
  "cache.setQueriesData({ queryKey: families }, change)",
  'cache.getQueriesData({ queryKey: queryKeys.board.one("a") })',
];

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const missed = SAMPLES.filter((sample) => faults("sample.ts", sample).length === 0);
  const source = new URL("../src", import.meta.url).pathname;
  const names = readdirSync(source, { recursive: true }).filter(
    (name) => /\.tsx?$/.test(name) && !/schema\.d\.ts$|routeTree\.gen\.ts$|throttle\.test\.ts$/.test(name),
  );
  const all = names.flatMap((name) => faults(join("src", name), readFileSync(join(source, name), "utf8")));
  for (const fault of all) console.error(fault);
  for (const sample of missed) console.error(`this check does not find: ${sample}`);
  process.exit(all.length + missed.length === 0 ? 0 : 1);
}
