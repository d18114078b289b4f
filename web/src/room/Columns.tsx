import { PanelLeftClose, PanelLeftOpen, PanelRightClose, PanelRightOpen } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { isNew } from "../feedback/feedback";
import { FeedbackView } from "../feedback/FeedbackView";
import { now } from "../lib/clock";
import { useKeys } from "../lib/keys";
import { isStaff, type Me } from "../lib/session";
import { Button } from "../ui/Button";
import { Chat } from "./Chat";
import { Documents } from "./Documents";
import { Open } from "./Open";
import { Places, Topics } from "./Places";
import { type Document, fileName, type Group, type Place, type Topic, type WorkRoom } from "./room";
import { useKept, useWide } from "./screen";
import { Task } from "./Task";

interface Props {
  found: WorkRoom;
  group: Group | null | undefined;
  topics: readonly Topic[];
  topic: Topic | undefined;
  document: Document | undefined;
  place: Place | undefined;
  person: Me;
  unread: number;
  isArchived: boolean;
  isWriting: boolean;
}

/** The places of a room: side by side where there is room for three columns, one at a time where there is not. */
export function Columns(props: Props) {
  const { found, topics, topic, document, person } = props;
  const { t } = useTranslation();
  const isWide = useWide();
  const place: Place = document ? "documents" : (props.place ?? "task");
  const hasNews = topic !== undefined && !isStaff(person) && isNew(person.id, topic, now());
  const places = <Places found={found} topic={topic} isOpen={document !== undefined} place={place} isWide={isWide} hasNews={hasNews} />;
  const choice = topics.length > 1 && topic ? <Topics groupId={found.groupId} topics={topics} topic={topic} place={place} /> : null;
  if (isWide) return <Three {...props} places={places} choice={choice} />;
  return (
    <div className="flex flex-col gap-4">
      {choice}
      {places}
      <section aria-label={t(`room.place.${place}`)} data-part tabIndex={-1} className="flex flex-col outline-none">
        <Content {...props} place={place} />
      </section>
    </div>
  );
}

/** One place by itself. */
function Content({ place, lead, ...props }: Props & { place: Place; lead?: ReactNode }) {
  const { t } = useTranslation();
  const { found, group, topic, document, person, unread, isArchived, isWriting } = props;
  if (document) return <Open document={document} found={found} isWriting={isWriting} lead={lead} />;
  switch (place) {
    case "documents":
      return <Documents found={found} topic={topic} isArchived={isArchived} />;
    case "chat":
      return <Chat workRoomId={found.id} own={person.id} unread={unread} isStaff={isStaff(person)} isArchived={isArchived} />;
    case "feedback":
      return topic ? <FeedbackView found={found} topic={topic} own={person.id} /> : <p>{t("room.none")}</p>;
    default:
      return <Task topic={topic} group={group} />;
  }
}

/** Documents, what is open, and chat. The two at the sides make way for it with `[` and `]`. */
function Three({ places, choice, ...props }: Props & { places: ReactNode; choice: ReactNode }) {
  const { t } = useTranslation();
  const { found, topic, document, person, unread, isArchived } = props;
  const [isListAway, setListAway] = useKept("room:list");
  const [isChatAway, setChatAway] = useKept("room:chat");
  useKeys({ "[": () => setListAway(!isListAway), "]": () => setChatAway(!isChatAway) });
  const middle: Place = props.place === "feedback" ? "feedback" : "task";
  return (
    <div className="flex min-h-0 grow gap-3">
      <Side title={t("room.place.documents")} isAway={isListAway} onAway={setListAway} keys="[" signs={[PanelLeftClose, PanelLeftOpen]} width="w-72">
        <Documents found={found} topic={topic} openId={document?.id} isArchived={isArchived} />
      </Side>
      <section aria-label={document ? fileName(document) : t(`room.place.${middle}`)} data-part tabIndex={-1} className="bg-sheet border-faint flex min-w-0 grow flex-col gap-3 overflow-y-auto rounded-xl border p-3 shadow-sm outline-none">
        {document ? null : (
          <div className="flex flex-wrap items-center gap-x-6 gap-y-2">
            {places}
            {choice}
          </div>
        )}
        <Content {...props} place={middle} lead={places} />
      </section>
      <Side title={t("room.place.chat")} count={isChatAway ? found.unreadCount : 0} isAway={isChatAway} onAway={setChatAway} keys="]" signs={[PanelRightClose, PanelRightOpen]} width="w-80">
        <Chat workRoomId={found.id} own={person.id} unread={unread} isStaff={isStaff(person)} isArchived={isArchived} />
      </Side>
    </div>
  );
}

interface SideProps {
  title: string;
  count?: number;
  isAway: boolean;
  onAway: (isAway: boolean) => void;
  keys: string;
  signs: readonly [typeof PanelLeftOpen, typeof PanelLeftOpen];
  width: string;
  children: ReactNode;
}

function Side({ title, count = 0, isAway, onAway, keys, signs, width, children }: SideProps) {
  const { t } = useTranslation();
  const Sign = signs[isAway ? 1 : 0];
  const button = (
    <Button kind="quiet" className="px-0" aria-keyshortcuts={keys} aria-expanded={!isAway} aria-label={t(isAway ? "room.unfold" : "room.fold", { title, key: keys })} onPress={() => onAway(!isAway)}>
      <Sign aria-hidden="true" className="size-5" />
    </Button>
  );
  return (
    <section
      aria-label={title}
      data-part
      tabIndex={-1}
      className={`bg-sheet border-faint flex min-h-0 shrink-0 flex-col gap-2 overflow-y-auto rounded-xl border shadow-sm outline-none ${isAway ? "items-center" : `${width} p-3 pt-1`}`}
    >
      <div className="flex items-center justify-between gap-2">
        {isAway ? null : <h2>{title}</h2>}
        {button}
      </div>
      {isAway && count > 0 ? (
        <span className="text-warn text-sm font-semibold">
          {count} <span className="sr-only">{t("room.chat.new")}</span>
        </span>
      ) : null}
      {isAway ? null : children}
    </section>
  );
}
