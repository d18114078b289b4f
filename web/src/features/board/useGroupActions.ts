import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import type { MenuAction } from "../../components/base/OverflowMenu";
import type { BoardGroup } from "./board";
import type { BoardDialog } from "./BoardDialogs";

/** Returns the actions of the menu of a card. */
export function useGroupActions(
  onDialog: (dialog: BoardDialog) => void,
  onOpen: (id: string) => void,
): (card: BoardGroup) => MenuAction[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  return (card) => {
    const groupId = card.group.id;
    const openWork = () => {
      onOpen(groupId);
      void navigate({
        to: "/topics/$topicId/work/$groupId",
        params: { topicId: card.groupAssignment.assignmentId, groupId },
      });
    };
    return [
      { id: "look", name: t("board.look"), onAction: openWork },
      {
        id: "room",
        name: t("board.room"),
        onAction: () => void navigate({ to: "/groups/$groupId", params: { groupId } }),
      },
      { id: "message", name: t("board.message"), onAction: () => onDialog({ what: "message", groupId }) },
      ...card.members.map(({ user }) => ({
        id: `move ${user.id}`,
        name: t("board.move", { name: user.name }),
        onAction: () => onDialog({ what: "move", groupId, userId: user.id }),
      })),
    ];
  };
}
