// Rubrics: criteria with levels, of a teacher or of a topic, and the form that edits them.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

export type Rubric = Schemas["Rubric"];
export type ListedRubric = Schemas["ListedRubric"];
export type TopicRubric = Schemas["TopicRubric"];
export type Criterion = Schemas["RubricCriterion"];
export type Level = Schemas["RubricLevel"];
export type Mark = Schemas["RubricMark"];

export const CRITERIA_MAX = 20;
export const LEVELS_MAX = 10;

export const rubricsQuery = queryOptions({
  queryKey: queryKeys.rubrics.list(),
  queryFn: () => unwrap(client.GET("/rubrics")),
});

export const rubricQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.rubrics.one(id),
    queryFn: () => unwrap(client.GET("/rubrics/{id}", { params: { path: { id } } })),
  });

/** The rubric of a topic; null if it has none, or the user may not see it yet. */
export const topicRubricQuery = (topicId: string) =>
  queryOptions({
    queryKey: queryKeys.assignments.rubric(topicId),
    queryFn: async () =>
      (await unwrap(client.GET("/assignments/{id}/rubric", { params: { path: { id: topicId } } }))).rubric,
  });

export interface LevelForm {
  key: number;
  label: string;
  description: string;
  /** A number, a range, or empty. */
  points: string;
}

export interface CriterionForm {
  key: number;
  title: string;
  description: string;
  levels: LevelForm[];
}

export interface RubricForm {
  title: string;
  isShared: boolean;
  criteria: CriterionForm[];
}

let lastKey = 0;
const nextKey = (): number => (lastKey += 1);

export const emptyLevel = (): LevelForm => ({ key: nextKey(), label: "", description: "", points: "" });
export const emptyCriterion = (): CriterionForm => ({
  key: nextKey(),
  title: "",
  description: "",
  levels: [emptyLevel(), emptyLevel()],
});

/** Points of a level as typed: "4", "0–2", or empty. */
export const typedPoints = ({ minPoints, maxPoints }: Pick<Level, "minPoints" | "maxPoints">): string =>
  minPoints === null || maxPoints === null
    ? ""
    : minPoints === maxPoints
      ? String(minPoints)
      : `${minPoints}–${maxPoints}`;

/** Parses "4", "0-2" and "1,5 – 3"; null if empty, undefined if invalid. */
export function parseRange(typed: string): { minPoints: number; maxPoints: number } | null | undefined {
  const plain = typed.replaceAll(",", ".").replaceAll(/\s/g, "");
  if (plain === "") return null;
  const found = /^(\d+(?:\.\d+)?)(?:[-–](\d+(?:\.\d+)?))?$/.exec(plain);
  if (found === null) return undefined;
  const minPoints = Number(found[1]);
  const maxPoints = found[2] === undefined ? minPoints : Number(found[2]);
  return minPoints <= maxPoints && maxPoints <= 100_000 ? { minPoints, maxPoints } : undefined;
}

export const rubricForm = (rubric: Rubric | undefined): RubricForm =>
  rubric === undefined
    ? { title: "", isShared: false, criteria: [emptyCriterion()] }
    : {
        title: rubric.title,
        isShared: rubric.isShared,
        criteria: rubric.criteria.map(({ title, description, levels }) => ({
          key: nextKey(),
          title,
          description: description ?? "",
          levels: levels.map((level) => ({
            key: nextKey(),
            label: level.label,
            description: level.description ?? "",
            points: typedPoints(level),
          })),
        })),
      };

/** The request body of a form; undefined while it is incomplete. Empty levels are left out. */
export function rubricBody({ title, isShared, criteria }: RubricForm): Schemas["NewRubric"] | undefined {
  const bodies = criteria.map((criterion) => {
    const levels = criterion.levels.filter((level) => level.label.trim() !== "" || level.points.trim() !== "");
    const ranges = levels.map((level) => parseRange(level.points));
    const isFine =
      criterion.title.trim() !== "" &&
      levels.length > 0 &&
      levels.every((level) => level.label.trim() !== "") &&
      ranges.every((range) => range !== undefined);
    return isFine
      ? {
          title: criterion.title.trim(),
          description: criterion.description.trim() || null,
          levels: levels.map((level, index) => ({
            label: level.label.trim(),
            description: level.description.trim() || null,
            ...ranges[index],
          })),
        }
      : undefined;
  });
  const complete = bodies.filter((body) => body !== undefined);
  if (title.trim() === "" || bodies.length === 0 || complete.length < bodies.length) return undefined;
  return { title: title.trim(), isShared, criteria: complete };
}
