import { createPortal } from "react-dom";

import { compareNumbered } from "../../i18n/names";
import { numberedName } from "../lesson/groupNames";
import type { BoardGroup } from "./board";

/** Groups on one printed page; more would not be readable on a wall. */
const GROUPS_PER_PAGE = 8;

/** The groups that the class may see, by number, with the names of their members. Hidden groups stay hidden. */
export function listShownGroups(groups: readonly BoardGroup[]): { id: string; name: string; members: string[] }[] {
  return groups
    .filter((card) => card.group.isHidden !== true)
    .toSorted((one, other) => one.group.groupNumber - other.group.groupNumber)
    .map((card) => ({
      id: card.group.id,
      name: numberedName(card.group),
      members: card.members.map((member) => member.user.name).toSorted(compareNumbered),
    }));
}

type ShownGroups = ReturnType<typeof listShownGroups>;

/** Who works with whom: nothing else of a group is shown to the class. */
export function ProjectorGroups({ label, groups }: { label: string; groups: ShownGroups }) {
  return (
    <ul
      aria-label={label}
      className="grid w-full grid-cols-[repeat(auto-fill,minmax(min(100%,max(11rem,15vw)),1fr))] gap-[1.2vw] text-start"
    >
      {groups.map((group) => (
        <li key={group.id} className="bg-sheet border-faint rounded-xl border p-[1vw]">
          <h2 className="text-[clamp(1.05rem,1.9vw,2.4rem)] leading-tight font-semibold">{group.name}</h2>
          <p className="mt-[0.4vw] text-[clamp(1rem,1.5vw,2rem)] leading-snug whitespace-pre-line">
            {group.members.join("\n")}
          </p>
        </li>
      ))}
    </ul>
  );
}

/** The groups on paper, for the wall of the classroom. */
export function PrintedGroups({ title, groups }: { title: string; groups: ShownGroups }) {
  const pages = Array.from({ length: Math.ceil(groups.length / GROUPS_PER_PAGE) }, (_, page) =>
    groups.slice(page * GROUPS_PER_PAGE, (page + 1) * GROUPS_PER_PAGE),
  );
  return createPortal(
    <div className="print-only">
      {pages.map((page, index) => (
        <section key={page[0]?.id} className="break-after-page last:break-after-auto">
          <p className="mb-4 text-2xl font-semibold">
            {title}
            {pages.length > 1 ? ` (${index + 1}/${pages.length})` : ""}
          </p>
          <ul className="grid grid-cols-2 gap-4">
            {page.map((group) => (
              <li key={group.id} className="break-inside-avoid border-2 border-black p-3">
                <p className="text-2xl font-bold">{group.name}</p>
                <p className="mt-1 text-xl whitespace-pre-line">{group.members.join("\n")}</p>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>,
    document.body,
  );
}
