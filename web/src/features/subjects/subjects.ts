// The subjects of a school.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

export type Subject = Schemas["Subject"];

export const subjectsQuery = queryOptions({
  queryKey: queryKeys.subjects.list(),
  queryFn: () => unwrap(client.GET("/subjects")),
});

/** Colours that remain distinguishable with colour vision deficiencies. */
export const COLOURS = [
  "#2f5fb3",
  "#2f7d4f",
  "#b3541e",
  "#8a3f8f",
  "#b3261e",
  "#0f766e",
  "#8a6d00",
  "#4a5568",
] as const;
