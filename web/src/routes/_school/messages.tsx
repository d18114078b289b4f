import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { PenLine } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { isStaff } from "../../auth/session";
import { MessageList } from "../../features/messages/MessageList";
import { replySubject, ownClassesQuery, type Message } from "../../features/messages/messages";
import { NewMessageDialog } from "../../features/messages/NewMessageDialog";
import { Button } from "../../components/Button";
import { Select } from "../../forms/Select";
import { PageHeading } from "../../components/PageHeading";
import { Tabs } from "../../components/Tabs";
import { type Box as BoxName, BOXES } from "../../features/messages/boxes";

interface Search {
  box?: BoxName;
  class?: string;
  open?: string;
}

export const Route = createFileRoute("/_school/messages")({
  validateSearch: (search: Record<string, unknown>): Search => ({
    ...(BOXES.includes(search["box"] as BoxName) ? { box: search["box"] as BoxName } : {}),
    ...(typeof search["class"] === "string" ? { class: search["class"] } : {}),
    ...(typeof search["open"] === "string" ? { open: search["open"] } : {}),
  }),
  component: Messages,
});

/** Messages between users of a school, and announcements to classes. */
function Messages() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const search = Route.useSearch();
  const navigate = Route.useNavigate();
  const known = useQuery(ownClassesQuery);
  const [newMessage, setNewMessage] = useState<Message | "new">();
  const updateSearch = (next: Search) => void navigate({ search: next, replace: true });
  const box = search.box ?? "inbox";
  const classId = search.class ?? known.data?.[0]?.id;
  const list = (which: BoxName, of?: string) => (
    <MessageList
      box={which}
      classId={of}
      own={person.id}
      openId={search.open}
      onOpen={(open) => updateSearch({ ...search, open })}
      onReply={setNewMessage}
      classNameOf={(id) => known.data?.find((one) => one.id === id)?.name}
    />
  );
  const open = known.data;
  const announcements = () => (
    <div className="flex flex-col gap-4">
      {open !== undefined && open.length > 1 ? (
        <div className="max-w-xs">
          <Select
            label={t("messages.classLabel")}
            options={open}
            value={classId ?? null}
            onChange={(id) => updateSearch({ box: "class", class: id })}
          />
        </div>
      ) : null}
      {list("class", classId)}
    </div>
  );
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <PageHeading title={t("messages.title")}>{t("messages.title")}</PageHeading>
        <Button kind="main" onPress={() => setNewMessage("new")}>
          <PenLine aria-hidden="true" className="size-4" /> {t("messages.write")}
        </Button>
      </div>
      <Tabs
        label={t("messages.title")}
        open={box}
        onOpen={(id) => updateSearch({ box: id })}
        parts={[
          { id: "inbox", name: t("messages.box.inbox"), content: () => list("inbox") },
          { id: "sent", name: t("messages.box.sent"), content: () => list("sent") },
          ...(open === undefined || open.length === 0
            ? []
            : [{ id: "class" as const, name: t("messages.box.class"), content: announcements }]),
        ]}
      />
      {newMessage === undefined ? null : (
        <NewMessageDialog
          own={person.id}
          isStaff={isStaff(person)}
          onClose={() => setNewMessage(undefined)}
          {...(newMessage === "new"
            ? {}
            : {
                to: { id: newMessage.sender.id, name: newMessage.sender.name },
                subject: replySubject(newMessage.subject),
              })}
        />
      )}
    </div>
  );
}
