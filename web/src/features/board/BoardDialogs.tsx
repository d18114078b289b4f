import { Suspense } from "react";

import type { Board } from "./board";
import { lazyPart } from "../../components/lazyPart";
import { loadTexts } from "../../i18n";

/** The open dialog of the board. */
export type BoardDialog =
  | { what: "message"; groupId?: string }
  | { what: "move"; groupId: string; userId: string }
  | { what: "time" }
  | { what: "copy" };

const MessageDialog = lazyPart(async () => (await import("./MessageDialog")).MessageDialog);
const MoveStudentDialog = lazyPart(async () => (await import("./MoveStudentDialog")).MoveStudentDialog);
const ExtendDeadlineDialog = lazyPart(async () => (await import("./ExtendDeadlineDialog")).ExtendDeadlineDialog);
const CopyDialog = lazyPart(async () => {
  const [, { CopyDialog: dialog }] = await Promise.all([loadTexts("other"), import("../copies/CopyDialog")]);
  return dialog;
});

interface Props {
  dialog: BoardDialog;
  board: Board;
  /** Only groups that have not submitted are shown; a message goes to them by default. */
  onlyOpen: boolean;
  onClose: () => void;
}

/** The dialogs of the board; each is loaded when it is first opened. */
export function BoardDialogs({ dialog, ...rest }: Props) {
  return (
    <Suspense>
      <OpenDialog dialog={dialog} {...rest} />
    </Suspense>
  );
}

function OpenDialog({ dialog, board, onlyOpen, onClose }: Props) {
  const card = "groupId" in dialog ? board.groups.find((one) => one.group.id === dialog.groupId) : undefined;
  switch (dialog.what) {
    case "message":
      return <MessageDialog board={board} to={card} onlyOpen={onlyOpen} onClose={onClose} />;
    case "move":
      return card ? <MoveStudentDialog board={board} from={card} userId={dialog.userId} onClose={onClose} /> : null;
    case "time":
      return <ExtendDeadlineDialog board={board} onClose={onClose} />;
    case "copy":
      return <CopyDialog source={topicSource(board.assignment)} onClose={onClose} />;
  }
}

const topicSource = (topic: Board["assignment"]) => ({
  kind: "topics" as const,
  topics: [topic],
  classId: topic.classId,
  courseId: topic.courseId,
});
