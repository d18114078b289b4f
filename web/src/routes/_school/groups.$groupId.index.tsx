import { createFileRoute } from "@tanstack/react-router";

import { Room } from "../../features/work-room/WorkRoom";
import { type Section, SECTIONS } from "../../features/work-room/sections";

interface Search {
  place?: Section;
  topic?: string;
}

export const Route = createFileRoute("/_school/groups/$groupId/")({
  validateSearch: ({ place, topic }: Record<string, unknown>): Search => ({
    ...(SECTIONS.includes(place as Section) ? { place: place as Section } : {}),
    ...(typeof topic === "string" ? { topic } : {}),
  }),
  component: WorkRoomPage,
});

/** A section of the work room. */
function WorkRoomPage() {
  const { groupId } = Route.useParams();
  const { place, topic } = Route.useSearch();
  return <Room key={groupId} groupId={groupId} section={place} topicId={topic} />;
}
