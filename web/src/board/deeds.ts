import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import type { Deed } from "../ui/More";
import type { BoardGroup } from "./board";
import type { Doing } from "./Doings";

/** What can be done with a group from its card. */
export function useDeeds(onDo: (doing: Doing) => void, onLook: (id: string) => void): (card: BoardGroup) => Deed[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  return (card) => {
    const groupId = card.group.id;
    const look = () => {
      onLook(groupId);
      void navigate({ to: "/t/$topicId/work/$groupId", params: { topicId: card.groupAssignment.assignmentId, groupId } });
    };
    return [
      { id: "look", name: t("board.look"), onAction: look },
      { id: "room", name: t("board.room"), onAction: () => void navigate({ to: "/g/$groupId", params: { groupId } }) },
      { id: "message", name: t("board.message"), onAction: () => onDo({ what: "message", groupId }) },
      ...card.members.map(({ user }) => ({ id: `move ${user.id}`, name: t("board.move", { name: user.name }), onAction: () => onDo({ what: "move", groupId, userId: user.id }) })),
    ];
  };
}
