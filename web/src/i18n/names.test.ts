import { expect, it } from "vitest";

import { compareNames, compareNumbered, comparePeople, foldCase } from "./names";

it("sorts names as the server does, whatever the language of the browser", () => {
  const names = ["10a", "7b", "ähnlich", "Ärger", "Öztürk", "Šmid", "Zebra"];
  expect(names.toReversed().toSorted(compareNames)).toEqual(names);
  expect(["Gruppe 10", "Gruppe 2"].toSorted(compareNumbered)).toEqual(["Gruppe 2", "Gruppe 10"]);
});

it("sorts people by surname, then by first name", () => {
  const people = ["Anna Arger", "Zoe Arger", "Bert Ärger", "Ben Lake", "Chris Lake", "Anna Lakes", "Ada Zebra"];
  expect(people.toReversed().toSorted(comparePeople)).toEqual(people);
});

it("folds case and accents", () => {
  expect(["Ärger", " E\u0301VA ", "Straße"].map(foldCase)).toEqual(["arger", "eva", "strasse"]);
});
