import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouteContext } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { draft, keepDraft } from "../lib/drafts";
import { myGroups } from "../lib/groups";
import { queryKeys } from "../lib/queryKeys";
import { isStaff } from "../lib/session";
import { Button } from "../ui/Button";
import { BOX } from "../ui/field";
import { Heading } from "../ui/Heading";
import { Shape } from "../ui/Shape";
import { placeNow } from "./belongs";
import { type Group, nameOf, type WorkRoom } from "./room";

/** What stands in the fields of the page and of its windows, before they go. */
function typedNow(): string[] {
  const fields = document.querySelectorAll<HTMLTextAreaElement | HTMLInputElement>("#main textarea, [role=dialog] textarea, [role=dialog] input[type=text]");
  return [...fields].map((field) => field.value.trim()).filter((text) => text !== "");
}

/** In place of a room that is not, or not any more, open to the reader: where they belong now, with one button to go there. */
export function Gone({ groupId, left }: { groupId: string; left: WorkRoom | undefined }) {
  const { t } = useTranslation();
  const { person } = useRouteContext({ from: "/_school" });
  const cache = useQueryClient();
  const navigate = useNavigate();
  // Taken while the room is still on the screen: this renders before the room is removed.
  const [typed] = useState(typedNow);
  const kept = left === undefined ? "" : draft(person.id, left.id).trim();
  const unsent = [...new Set([kept, ...typed])].filter((text) => text !== "").join("\n\n");
  const mine = useQuery({ ...myGroups, refetchOnMount: "always" });
  if (!mine.isFetchedAfterMount) return <Shape count={1} />;
  const known = cache.getQueryData<Group | null>(queryKeys.groups.one(groupId));
  const next = isStaff(person)
    ? undefined
    : placeNow(mine.data ?? [], { groupId, classId: known?.classId, courseId: known?.courseId, topicIds: left?.groupAssignments.map((own) => own.assignmentId) ?? [] });
  const go = () => {
    if (next === undefined) return navigate({ to: isStaff(person) ? "/" : "/groups" });
    // What was not sent goes along, unless something waits there already; it is sent only when the user presses "Send".
    if (kept !== "" && left !== undefined && draft(person.id, next.workRoomId) === "") {
      keepDraft(person.id, next.workRoomId, kept);
      keepDraft(person.id, left.id, "");
    }
    return navigate({ to: "/g/$groupId", params: { groupId: next.id } });
  };
  const was = left === undefined ? undefined : nameOf(left.group);
  const now = next === undefined ? undefined : t("groups.group", { number: next.groupNumber, name: nameOf(next) });
  const title = was === undefined ? t("room.gone.closed") : t("room.gone.title", { name: was });
  return (
    <div className="flex max-w-xl flex-col items-start gap-4">
      <Heading title={title}>{title}</Heading>
      <output className="block">{now === undefined ? t("room.gone.why") : t("room.gone.now", { name: now })}</output>
      {was === undefined ? null : <p className="text-soft">{t("room.gone.documents")}</p>}
      {unsent === "" ? null : (
        <label className="flex w-full flex-col gap-1">
          <span>{t("room.gone.unsent")}</span>
          <textarea className={`${BOX} py-2`} rows={Math.min(8, unsent.split("\n").length + 1)} readOnly value={unsent} />
        </label>
      )}
      <Button kind="main" onPress={() => void go()}>
        {now !== undefined ? t("room.gone.go", { name: now }) : isStaff(person) ? t("missing.home") : t("nav.groups")}
      </Button>
    </div>
  );
}
