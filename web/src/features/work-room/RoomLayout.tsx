import { PanelLeftClose, PanelLeftOpen, PanelRightClose, PanelRightOpen } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { FeedbackView } from "../feedback/FeedbackView";
import { useShortcuts } from "../../hooks/useShortcuts";
import { isStaff, type Me } from "../../auth/session";
import { Button } from "../../components/Button";
import { Chat } from "./Chat";
import { DocumentList } from "./DocumentList";
import { SectionTabs, TopicSelect } from "./SectionTabs";
import { type Group, type GroupTopic, type WorkRoom } from "./workRoom";
import { useStoredFlag, useIsWideScreen } from "./screen";
import { TaskDescription } from "./TaskDescription";
import { type Section } from "./sections";

interface Props {
  workRoom: WorkRoom;
  group: Group | null | undefined;
  topics: readonly GroupTopic[];
  topic: GroupTopic | undefined;
  section: Section | undefined;
  person: Me;
  unread: number;
  hasNews: boolean;
  isArchived: boolean;
}

/** The sections of a room: in three columns where the screen is wide enough, one at a time elsewhere. */
export function RoomLayout(props: Props) {
  const { workRoom, topics, topic, hasNews } = props;
  const { t } = useTranslation();
  const isWide = useIsWideScreen();
  const place: Section = props.section ?? "task";
  const sections = <SectionTabs workRoom={workRoom} topic={topic} section={place} isWide={isWide} hasNews={hasNews} />;
  const topicSelect =
    topics.length > 1 && topic ? (
      <TopicSelect groupId={workRoom.groupId} topics={topics} topic={topic} section={place} />
    ) : null;
  if (isWide) return <ThreeColumns {...props} sections={sections} topicSelect={topicSelect} />;
  return (
    <div className="flex flex-col gap-4">
      {topicSelect}
      {sections}
      <section aria-label={t(`room.place.${place}`)} data-part tabIndex={-1} className="flex flex-col outline-none">
        <Section {...props} section={place} />
      </section>
    </div>
  );
}

/** One section. */
function Section({ section, ...props }: Props & { section: Section }) {
  const { t } = useTranslation();
  const { workRoom, group, topic, person, unread, isArchived } = props;
  switch (section) {
    case "documents":
      return <DocumentList workRoom={workRoom} topic={topic} isArchived={isArchived} />;
    case "chat":
      return (
        <Chat
          workRoomId={workRoom.id}
          own={person.id}
          unread={unread}
          isStaff={isStaff(person)}
          isArchived={isArchived}
        />
      );
    case "feedback":
      return topic ? <FeedbackView workRoom={workRoom} topic={topic} own={person.id} /> : <p>{t("room.none")}</p>;
    default:
      return <TaskDescription topic={topic} group={group} />;
  }
}

/** Documents, task or feedback, and chat. `[` and `]` collapse the outer columns. */
function ThreeColumns({ sections, topicSelect, ...props }: Props & { sections: ReactNode; topicSelect: ReactNode }) {
  const { t } = useTranslation();
  const { workRoom, topic, person, unread, isArchived } = props;
  const [isListCollapsed, setListCollapsed] = useStoredFlag("room:list");
  const [isChatCollapsed, setChatCollapsed] = useStoredFlag("room:chat");
  useShortcuts({ "[": () => setListCollapsed(!isListCollapsed), "]": () => setChatCollapsed(!isChatCollapsed) });
  const middle: Section = props.section === "feedback" ? "feedback" : "task";
  return (
    <div className="flex min-h-0 grow gap-5">
      <SideColumn
        title={t("room.place.documents")}
        isCollapsed={isListCollapsed}
        onCollapsedChange={setListCollapsed}
        keys="["
        icons={[PanelLeftClose, PanelLeftOpen]}
        width="w-72"
      >
        <DocumentList workRoom={workRoom} topic={topic} isArchived={isArchived} />
      </SideColumn>
      <section
        aria-label={t(`room.place.${middle}`)}
        data-part
        tabIndex={-1}
        className="bg-sheet border-faint flex min-w-0 grow flex-col gap-3 overflow-y-auto rounded-xl border p-5 pt-3 shadow-xs outline-none"
      >
        <div className="flex flex-wrap items-center gap-x-6 gap-y-2">
          {sections}
          {topicSelect}
        </div>
        <Section {...props} section={middle} />
      </section>
      <SideColumn
        title={t("room.place.chat")}
        count={isChatCollapsed ? workRoom.unreadCount : 0}
        isCollapsed={isChatCollapsed}
        onCollapsedChange={setChatCollapsed}
        keys="]"
        icons={[PanelRightClose, PanelRightOpen]}
        width="w-80"
      >
        <Chat
          workRoomId={workRoom.id}
          own={person.id}
          unread={unread}
          isStaff={isStaff(person)}
          isArchived={isArchived}
        />
      </SideColumn>
    </div>
  );
}

interface SideColumnProps {
  title: string;
  count?: number;
  isCollapsed: boolean;
  onCollapsedChange: (isAway: boolean) => void;
  keys: string;
  icons: readonly [typeof PanelLeftOpen, typeof PanelLeftOpen];
  width: string;
  children: ReactNode;
}

function SideColumn({
  title,
  count = 0,
  isCollapsed,
  onCollapsedChange,
  keys,
  icons,
  width,
  children,
}: SideColumnProps) {
  const { t } = useTranslation();
  const Icon = icons[isCollapsed ? 1 : 0];
  const button = (
    <Button
      kind="quiet"
      className="px-0"
      aria-keyshortcuts={keys}
      aria-expanded={!isCollapsed}
      aria-label={t(isCollapsed ? "room.unfold" : "room.fold", { title, key: keys })}
      onPress={() => onCollapsedChange(!isCollapsed)}
    >
      <Icon aria-hidden="true" className="size-5" />
    </Button>
  );
  return (
    <section
      aria-label={title}
      data-part
      tabIndex={-1}
      className={`bg-sheet border-faint flex min-h-0 shrink-0 flex-col gap-2 overflow-y-auto rounded-xl border shadow-xs outline-none ${isCollapsed ? "items-center" : `${width} p-4 pt-2`}`}
    >
      <div className="flex items-center justify-between gap-2">
        {isCollapsed ? null : <h2>{title}</h2>}
        {button}
      </div>
      {isCollapsed && count > 0 ? (
        <span className="bg-accent text-on-accent min-w-5 rounded-full px-1.5 text-center text-xs font-semibold">
          {count} <span className="sr-only">{t("room.chat.new")}</span>
        </span>
      ) : null}
      {isCollapsed ? null : children}
    </section>
  );
}
