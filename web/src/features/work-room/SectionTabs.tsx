import { Link, useNavigate } from "@tanstack/react-router";
import { ClipboardList, Files, MessageSquareQuote, MessagesSquare } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { Select } from "../../forms/Select";
import { type GroupTopic, type WorkRoom } from "./workRoom";
import { type Section, SECTIONS } from "./sections";

const TAB =
  "text-ink flex min-h-11 min-w-0 items-center gap-1.5 border-b-3 px-1.5 text-sm hover:no-underline sm:px-3 sm:text-base";
const SELECTED_TAB = "border-accent font-semibold";
const OTHER_TAB = "border-transparent";

interface Props {
  workRoom: WorkRoom;
  topic: GroupTopic | undefined;
  section: Section;
  isWide: boolean;
  hasNews: boolean;
}

/** Navigation between the sections of a room; sections visible in a column need no link. */
export function SectionTabs({ workRoom, topic, section, isWide, hasNews }: Props) {
  const { t } = useTranslation();
  const count: Partial<Record<Section, number>> = { documents: workRoom.documents.length, chat: workRoom.unreadCount };
  const sections = SECTIONS.filter((one) => !isWide || one === "task" || one === "feedback");
  const isInColumn = isWide && (section === "chat" || section === "documents");
  const isSelected = (one: Section) => one === section || (isInColumn && one === "task");
  return (
    <nav aria-label={t("room.places")} className="border-faint flex min-w-0 flex-wrap border-b">
      {sections.map((one) => (
        <TabLink key={one} workRoom={workRoom} topic={topic} section={one} isSelected={isSelected(one)}>
          {t(`room.place.${one}`)}
          {count[one] ? (
            <span
              className={
                one === "chat"
                  ? "bg-accent text-on-accent min-w-5 rounded-full px-1.5 text-center text-xs font-semibold"
                  : "text-soft"
              }
            >
              {count[one]}
            </span>
          ) : null}
          {one === "chat" && count.chat ? <span className="sr-only">{t("room.chat.new")}</span> : null}
          {one === "feedback" && hasNews && !isSelected(one) ? (
            <span className="bg-accent text-on-accent rounded-full px-1.5 text-xs font-semibold">
              {t("feedback.new")}
            </span>
          ) : null}
        </TabLink>
      ))}
    </nav>
  );
}

function TabLink({
  workRoom,
  topic,
  section,
  isSelected,
  children,
}: {
  workRoom: WorkRoom;
  topic: GroupTopic | undefined;
  section: Section;
  isSelected: boolean;
  children: ReactNode;
}) {
  return (
    <Link
      to="/groups/$groupId"
      params={{ groupId: workRoom.groupId }}
      search={{ place: section, ...(topic ? { topic: topic.assignmentId } : {}) }}
      aria-current={isSelected ? "page" : undefined}
      className={`${TAB} ${isSelected ? SELECTED_TAB : OTHER_TAB}`}
    >
      {children}
    </Link>
  );
}

const TAB_ICONS = {
  task: ClipboardList,
  documents: Files,
  chat: MessagesSquare,
  feedback: MessageSquareQuote,
} as const satisfies Record<Section, unknown>;

/** Navigation between the sections at the lower edge of a phone. */
export function BottomTabs({
  workRoom,
  topic,
  section,
  hasNews,
}: {
  workRoom: WorkRoom;
  topic: GroupTopic | undefined;
  section: Section;
  hasNews: boolean;
}) {
  const { t } = useTranslation();
  return (
    <nav
      aria-label={t("room.places")}
      className="bg-sheet border-faint flex min-h-15 shrink-0 justify-around border-t pb-[env(safe-area-inset-bottom)]"
    >
      {SECTIONS.map((one) => {
        const Icon = TAB_ICONS[one];
        const count = one === "chat" ? workRoom.unreadCount : 0;
        const isSelected = one === section;
        return (
          <Link
            key={one}
            to="/groups/$groupId"
            params={{ groupId: workRoom.groupId }}
            search={{ place: one, ...(topic ? { topic: topic.assignmentId } : {}) }}
            aria-current={isSelected ? "page" : undefined}
            className={`relative flex min-w-16 flex-col items-center justify-center gap-0.5 text-xs hover:no-underline ${isSelected ? "text-accent font-medium" : "text-soft"}`}
          >
            <span
              className={`flex h-7 w-14 items-center justify-center rounded-full ${isSelected ? "bg-accent-soft" : ""}`}
            >
              <Icon aria-hidden="true" className="size-5" strokeWidth={1.75} />
            </span>
            {t(`room.place.${one}`)}
            {count > 0 ? (
              <span className="bg-accent text-on-accent absolute end-2 top-1 min-w-4.5 rounded-full px-1 text-center leading-4.5 font-semibold">
                {count} <span className="sr-only">{t("room.chat.new")}</span>
              </span>
            ) : null}
            {one === "feedback" && hasNews && !isSelected ? (
              <span className="bg-accent text-on-accent absolute end-0 top-0.5 rounded-full px-1.5 leading-4.5 font-semibold">
                {t("feedback.new")}
              </span>
            ) : null}
          </Link>
        );
      })}
    </nav>
  );
}

/** Selects the topic, where the group has several. */
export function TopicSelect({
  groupId,
  topics,
  topic,
  section,
}: {
  groupId: string;
  topics: readonly GroupTopic[];
  topic: GroupTopic;
  section: Section;
}) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const go = (id: string) =>
    void navigate({ to: "/groups/$groupId", params: { groupId }, search: { place: section, topic: id } });
  return (
    <Select
      label={t("room.topic")}
      options={topics.map((one) => ({ id: one.assignmentId, name: one.assignment.title }))}
      value={topic.assignmentId}
      onChange={go}
    />
  );
}
