import { Link, useNavigate } from "@tanstack/react-router";
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
  /** Whether a document is open. */
  isOpen: boolean;
  section: Section;
  isWide: boolean;
  hasNews: boolean;
}

/** Navigation between the sections of a room; sections visible in a column need no link. */
export function SectionTabs({ workRoom, topic, isOpen, section, isWide, hasNews }: Props) {
  const { t } = useTranslation();
  const count: Partial<Record<Section, number>> = { documents: workRoom.documents.length, chat: workRoom.unreadCount };
  const sections = SECTIONS.filter((one) => !isWide || one === "task" || one === "feedback");
  const isInColumn = isWide && (section === "chat" || section === "documents");
  const isSelected = (one: Section) => !(isOpen && isWide) && (one === section || (isInColumn && one === "task"));
  return (
    <nav aria-label={t("room.places")} className="border-faint flex min-w-0 flex-wrap border-b">
      {sections.map((one) => (
        <TabLink key={one} workRoom={workRoom} topic={topic} section={one} isSelected={isSelected(one)}>
          {t(`room.place.${one}`)}
          {count[one] ? (
            <span className={one === "chat" ? "text-warn font-semibold" : "text-soft"}>{count[one]}</span>
          ) : null}
          {one === "chat" && count.chat ? <span className="sr-only">{t("room.chat.new")}</span> : null}
          {one === "feedback" && hasNews && !isSelected(one) ? (
            <span className="bg-warn text-page rounded-full px-1.5 text-xs font-semibold">{t("feedback.new")}</span>
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
