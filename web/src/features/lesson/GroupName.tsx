import { isNumberInName, nameOf, type NamedGroup } from "./groupNames";

/** Number tile and name of a group; the name alone if it contains the number. */
export function GroupName({ group }: { group: NamedGroup }) {
  if (isNumberInName(group)) return <span className="min-w-0 wrap-break-word">{nameOf(group)}</span>;
  return (
    <span className="inline-flex min-w-0 items-center gap-2.5">
      <NumberTile number={group.groupNumber} /> <span className="min-w-0 wrap-break-word">{nameOf(group)}</span>
    </span>
  );
}

/** The number of a group. */
export function NumberTile({ number }: { number: number }) {
  return (
    <span className="bg-sunk text-soft text-note inline-flex h-6.5 min-w-7 shrink-0 items-center justify-center rounded-md px-1 font-semibold tabular-nums">
      {number}
    </span>
  );
}
