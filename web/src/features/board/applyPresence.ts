import type { QueryClient } from "@tanstack/react-query";

import type { Schemas } from "../../api/client";
import { updateFamily } from "../../api/queryKeys";

/** What the live channel tells about one group: who is here, who writes, the last twenty minutes. */
export interface PresenceEvent {
  groupId: string;
  online: string[];
  writing: string[];
  activity: number[];
}

/** Puts it into the boards that show the group; answers whether one does. */
export function applyPresence(cache: QueryClient, hint: PresenceEvent): boolean {
  let isShown = false;
  updateFamily(cache, "board", (found) => {
    const groups = found.groups.map((card) => (card.group.id === hint.groupId ? { ...card, ...withPresence(card, hint) } : card));
    isShown ||= groups.some((card) => card.group.id === hint.groupId);
    return { ...found, groups };
  });
  return isShown;
}

const withPresence = (card: Schemas["BoardGroup"], { online, writing, activity }: PresenceEvent) => ({
  writing,
  activity,
  members: card.members.map((member) => ({ ...member, online: online.includes(member.user.id) })),
});
