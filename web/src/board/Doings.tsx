import { Suspense } from "react";

import type { Board } from "./board";
import { part } from "../ui/part";

/** What is being done in a window over the board. */
export type Doing = { what: "message"; groupId?: string } | { what: "move"; groupId: string; userId: string } | { what: "time" } | { what: "copy" };

const Message = part(async () => (await import("./Message")).Message);
const MoveStudent = part(async () => (await import("./MoveStudent")).MoveStudent);
const MoreTime = part(async () => (await import("./MoreTime")).MoreTime);
const CopyTopic = part(async () => (await import("./CopyTopic")).CopyTopic);

interface Props {
  doing: Doing;
  found: Board;
  /** Only those who have not submitted are shown: a message goes to them first. */
  onlyOpen: boolean;
  onClose: () => void;
}

/** The windows of the board; each is fetched when it is opened first. */
export function Doings({ doing, ...rest }: Props) {
  return (
    <Suspense>
      <Opened doing={doing} {...rest} />
    </Suspense>
  );
}

function Opened({ doing, found, onlyOpen, onClose }: Props) {
  const card = "groupId" in doing ? found.groups.find((one) => one.group.id === doing.groupId) : undefined;
  switch (doing.what) {
    case "message":
      return <Message found={found} to={card} onlyOpen={onlyOpen} onClose={onClose} />;
    case "move":
      return card ? <MoveStudent found={found} from={card} userId={doing.userId} onClose={onClose} /> : null;
    case "time":
      return <MoreTime found={found} onClose={onClose} />;
    case "copy":
      return <CopyTopic found={found} onClose={onClose} />;
  }
}
