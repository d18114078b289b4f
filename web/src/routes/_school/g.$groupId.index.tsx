import { createFileRoute } from "@tanstack/react-router";

import { type Place, PLACES } from "../../room/room";
import { Room } from "../../room/Room";

interface Search {
  place?: Place;
  topic?: string;
}

export const Route = createFileRoute("/_school/g/$groupId/")({
  validateSearch: ({ place, topic }: Record<string, unknown>): Search => ({
    ...(PLACES.includes(place as Place) ? { place: place as Place } : {}),
    ...(typeof topic === "string" ? { topic } : {}),
  }),
  component: Screen,
});

/** S11: the work room at one of its places. */
function Screen() {
  const { groupId } = Route.useParams();
  const { place, topic } = Route.useSearch();
  return <Room key={groupId} groupId={groupId} place={place} topicId={topic} />;
}
