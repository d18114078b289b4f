import type { QueryClient } from "@tanstack/react-query";

import type { Schemas } from "../../api/client";
import { queryKeys, updateFamily } from "../../api/queryKeys";

/** Realtime presence of one group: who is online and who is typing; for staff also the activity of the last twenty minutes. */
export interface PresenceEvent {
  groupId: string;
  online: string[];
  writing: string[];
  activity: number[];
}

/** Updates the cached work room of the group. */
export function applyRoomPresence(cache: QueryClient, { groupId, online, writing }: Omit<PresenceEvent, "activity">) {
  cache.setQueryData(queryKeys.room.one(groupId), (room) => room && { ...room, online, writing });
}

/** Updates the cached boards that contain the group. Returns whether there is one. */
export function applyPresence(cache: QueryClient, hint: PresenceEvent): boolean {
  let isShown = false;
  updateFamily(cache, "board", (found) => {
    const groups = found.groups.map((card) =>
      card.group.id === hint.groupId ? { ...card, ...withPresence(card, hint) } : card,
    );
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
