import { useNavigate } from "@tanstack/react-router";
import { ClipboardList, Files, MessageSquareQuote, MessagesSquare, Users, X } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { isStaff, type Me } from "../../auth/session";
import { Button } from "../../components/Button";
import { useShortcuts } from "../../hooks/useShortcuts";
import { FeedbackView } from "../feedback/FeedbackView";
import { Chat } from "./Chat";
import { DocumentList } from "./DocumentList";
import { GroupMembers } from "./GroupMembers";
import { OpenDocument } from "./OpenDocument";
import { RoomActions, RoomBar } from "./RoomBar";
import { RoomBanners } from "./RoomBanners";
import { BottomTabs } from "./SectionTabs";
import { useIsPhone, useIsWideScreen, useStoredFlag } from "./screen";
import { TaskDescription } from "./TaskDescription";
import { type Document, fileName, type Group, type GroupTopic, type WorkRoom } from "./workRoom";

interface Props {
  workRoom: WorkRoom;
  group: Group | null | undefined;
  topic: GroupTopic | undefined;
  document: Document;
  person: Me;
  unread: number;
  hasNews: boolean;
  isArchived: boolean;
  isWriting: boolean;
}

const LEFT = ["task", "documents", "feedback"] as const;
const RIGHT = ["chat", "group"] as const;
type Panel = (typeof LEFT)[number] | (typeof RIGHT)[number];

const ICONS = {
  task: ClipboardList,
  documents: Files,
  feedback: MessageSquareQuote,
  chat: MessagesSquare,
  group: Users,
} as const;

/** A room with an open document: the editor gets the window, everything else opens over it. */
export function DocumentRoom(props: Props) {
  const { workRoom, group, topic, document, person, isArchived, isWriting } = props;
  const isWide = useIsWideScreen();
  const actions = (
    <RoomActions
      workRoom={workRoom}
      group={group}
      topic={topic}
      isStaff={isStaff(person)}
      isArchived={isArchived}
      document={document}
    />
  );
  const banners = (
    <div className="flex flex-col gap-2 px-3 py-2 empty:hidden sm:px-4">
      <RoomBanners
        workRoom={workRoom}
        group={group}
        topic={topic}
        person={person.id}
        isStaff={isStaff(person)}
        isArchived={isArchived}
      />
    </div>
  );
  const editor = (
    <section
      aria-label={fileName(document)}
      data-part
      tabIndex={-1}
      className="flex min-h-0 min-w-0 grow flex-col outline-none"
    >
      <OpenDocument document={document} workRoom={workRoom} isWriting={isWriting} />
    </section>
  );
  return (
    <div data-room className="flex h-full min-h-80 flex-col">
      <RoomBar workRoom={workRoom} topic={topic} document={document}>
        {isWide ? actions : null}
      </RoomBar>
      {banners}
      {isWide ? (
        <Rails {...props}>{editor}</Rails>
      ) : (
        <>
          {editor}
          <div className="border-faint bg-sheet flex min-h-14 flex-wrap items-center justify-end gap-2 border-t px-3 py-1.5 empty:hidden">
            <WriteToggle workRoom={workRoom} document={document} isWriting={isWriting} />
            {actions}
          </div>
          <BottomTabs workRoom={workRoom} topic={topic} section="documents" hasNews={props.hasNews} />
        </>
      )}
    </div>
  );
}

/** Phones open a document for reading; this opens it for writing. */
function WriteToggle({
  workRoom,
  document,
  isWriting,
}: {
  workRoom: WorkRoom;
  document: Document;
  isWriting: boolean;
}) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  if (!useIsPhone() || !document.canEdit) return null;
  const toggle = () =>
    void navigate({
      to: "/groups/$groupId/documents/$documentId",
      params: { groupId: workRoom.groupId, documentId: document.id },
      search: (before) => ({ ...before, mode: isWriting ? undefined : ("edit" as const) }),
      replace: true,
    });
  return (
    <Button kind="quiet" className="-ms-2 me-auto px-2" onPress={toggle}>
      {t(isWriting ? "room.editor.read" : "room.editor.write")}
    </Button>
  );
}

/** The editor between two rails of buttons, which open panels over it. `[` opens the documents, `]` the chat. */
function Rails({ children, ...props }: Props & { children: ReactNode }) {
  const { t } = useTranslation();
  const { workRoom, hasNews } = props;
  const [left, setLeft] = useState<Panel>();
  const [isChatOpen, setChatOpen] = useStoredFlag("room:chat-open");
  const [isGroupOpen, setGroupOpen] = useState(false);
  const right: Panel | undefined = isGroupOpen ? "group" : isChatOpen ? "chat" : undefined;
  const openRight = (panel: Panel | undefined) => {
    setGroupOpen(panel === "group");
    setChatOpen(panel === "chat");
  };
  const toggle = (panel: Panel) =>
    panel === "chat" || panel === "group"
      ? openRight(right === panel ? undefined : panel)
      : setLeft(left === panel ? undefined : panel);
  useShortcuts({ "[": () => toggle("documents"), "]": () => toggle("chat") });
  const counts: Partial<Record<Panel, number>> = { chat: right === "chat" ? 0 : workRoom.unreadCount };
  const rail = (panels: readonly Panel[], label: string, open: Panel | undefined) => (
    <nav
      aria-label={label}
      className="bg-sheet border-faint flex w-21 shrink-0 flex-col items-center gap-1 py-2 not-first:border-s first:border-e"
    >
      {panels.map((panel) => (
        <RailButton
          key={panel}
          panel={panel}
          isOpen={panel === open}
          count={counts[panel] ?? 0}
          isNew={panel === "feedback" && hasNews}
          onPress={() => toggle(panel)}
        />
      ))}
    </nav>
  );
  return (
    <div className="relative flex min-h-0 grow">
      {rail(LEFT, t("room.places"), left)}
      {left === undefined ? null : <SidePanel panel={left} side="left" onClose={() => setLeft(undefined)} {...props} />}
      {children}
      {right === undefined ? null : (
        <SidePanel panel={right} side="right" onClose={() => openRight(undefined)} {...props} />
      )}
      {rail(RIGHT, t("room.places2"), right)}
    </div>
  );
}

function RailButton({
  panel,
  isOpen,
  count,
  isNew,
  onPress,
}: {
  panel: Panel;
  isOpen: boolean;
  count: number;
  isNew: boolean;
  onPress: () => void;
}) {
  const { t } = useTranslation();
  const Icon = ICONS[panel];
  const keys = panel === "documents" ? "[" : panel === "chat" ? "]" : undefined;
  return (
    <Button
      kind="quiet"
      data-rail={panel}
      aria-expanded={isOpen}
      {...(keys === undefined ? {} : { "aria-keyshortcuts": keys })}
      className={`text-xs! relative w-19.5 flex-col gap-1! px-0 py-2 ${isOpen ? "bg-accent-soft text-accent" : ""}`}
      onPress={onPress}
    >
      <Icon aria-hidden="true" className="size-5" strokeWidth={1.75} />
      {t(`room.place.${panel}`)}
      {count > 0 ? (
        <span className="bg-accent text-on-accent absolute end-4 top-1 min-w-4.5 rounded-full px-1 text-center text-xs leading-4.5 font-semibold">
          {count} <span className="sr-only">{t("room.chat.new")}</span>
        </span>
      ) : null}
      {isNew ? (
        <span className="bg-accent text-on-accent absolute end-2 top-0.5 rounded-full px-1.5 text-xs leading-4.5 font-semibold">
          {t("feedback.new")}
        </span>
      ) : null}
    </Button>
  );
}

/** A panel over one side of the editor; on very wide screens it stands next to it. */
function SidePanel({
  panel,
  side,
  onClose,
  workRoom,
  group,
  topic,
  document,
  person,
  unread,
  isArchived,
}: Props & { panel: Panel; side: "left" | "right"; onClose: () => void }) {
  const { t } = useTranslation();
  const box = useRef<HTMLElement>(null);
  const close = () => {
    onClose();
    globalThis.document.querySelector<HTMLElement>(`[data-rail="${panel}"]`)?.focus();
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape is pressed on the controls inside
    <section
      ref={box}
      aria-label={t(`room.place.${panel}`)}
      data-part
      tabIndex={-1}
      onKeyDown={(event) => {
        // Menus and dialogs inside of the panel handle Escape themselves.
        if (event.key === "Escape" && !event.defaultPrevented && box.current?.contains(event.target as Node)) close();
      }}
      className={`bg-sheet border-faint absolute inset-y-0 z-5 flex w-85 flex-col gap-2 overflow-y-auto p-4 pt-2 shadow-xl outline-none min-[112rem]:static min-[112rem]:shadow-none ${side === "left" ? "start-21 border-e" : "end-21 border-s"}`}
    >
      <div className="flex items-center justify-between gap-2">
        <h2>{t(`room.place.${panel}`)}</h2>
        <Button kind="quiet" className="-me-2 px-0" aria-label={t("app.close")} onPress={close}>
          <X aria-hidden="true" className="size-5" />
        </Button>
      </div>
      {panel === "task" ? <TaskDescription topic={topic} group={group} /> : null}
      {panel === "documents" ? (
        <DocumentList workRoom={workRoom} topic={topic} openId={document.id} isArchived={isArchived} />
      ) : null}
      {panel === "feedback" ? (
        topic ? (
          <FeedbackView workRoom={workRoom} topic={topic} own={person.id} />
        ) : (
          <p>{t("room.none")}</p>
        )
      ) : null}
      {panel === "chat" ? (
        <Chat
          workRoomId={workRoom.id}
          own={person.id}
          unread={unread}
          isStaff={isStaff(person)}
          isArchived={isArchived}
        />
      ) : null}
      {panel === "group" ? <GroupMembers workRoom={workRoom} /> : null}
    </section>
  );
}
