import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouteContext } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { getDraft, saveDraft } from "../../forms/drafts";
import { myGroupsQuery } from "../groups/groups";
import { queryKeys } from "../../api/queryKeys";
import { isStaff } from "../../auth/session";
import { Button } from "../../components/Button";
import { BOX } from "../../components/base/fieldStyles";
import { PageHeading } from "../../components/PageHeading";
import { Skeleton } from "../../components/base/Skeleton";
import { isNumberInName, nameOf, type NamedGroup } from "../lesson/groupNames";
import { findReplacementGroup } from "./replacementGroup";
import { type WorkRoom } from "./workRoom";

/** Text in the fields of the page and its dialogs, read before they are removed. */
function readTypedText(): string[] {
  const fields = document.querySelectorAll<HTMLTextAreaElement | HTMLInputElement>(
    "#main textarea, [role=dialog] textarea, [role=dialog] input[type=text]",
  );
  return [...fields].map((field) => field.value.trim()).filter((text) => text !== "");
}

/** Shown instead of a room that the user cannot access (any more): names the group they belong to now, with a link. */
export function GroupUnavailable({ groupId, left }: { groupId: string; left: WorkRoom | undefined }) {
  const { t } = useTranslation();
  const { person } = useRouteContext({ from: "/_school" });
  const cache = useQueryClient();
  const navigate = useNavigate();
  // Read while the room is still mounted: this component renders before the room is removed.
  const [typedText] = useState(readTypedText);
  const storedDraft = left === undefined ? "" : getDraft(person.id, left.id).trim();
  const unsent = [...new Set([storedDraft, ...typedText])].filter((text) => text !== "").join("\n\n");
  const groupsQuery = useQuery({ ...myGroupsQuery, refetchOnMount: "always" });
  if (!groupsQuery.isFetchedAfterMount) return <Skeleton count={1} />;
  const groups = cache.getQueryData(queryKeys.groups.one(groupId));
  const next = isStaff(person)
    ? undefined
    : findReplacementGroup(groupsQuery.data ?? [], {
        groupId,
        classId: groups?.classId,
        courseId: groups?.courseId,
        topicIds: left?.groupAssignments.map((own) => own.assignmentId) ?? [],
      });
  const openGroup = () => {
    if (next === undefined) return navigate({ to: isStaff(person) ? "/" : "/groups" });
    // Unsent text is copied to the new room unless a draft exists there; it is sent only when the user presses "Send".
    if (storedDraft !== "" && left !== undefined && getDraft(person.id, next.workRoomId) === "") {
      saveDraft(person.id, next.workRoomId, storedDraft);
      saveDraft(person.id, left.id, "");
    }
    return navigate({ to: "/groups/$groupId", params: { groupId: next.id } });
  };
  const nameInSentence = (group: NamedGroup) =>
    isNumberInName(group) ? nameOf(group) : t("room.gone.group", { number: group.groupNumber, name: nameOf(group) });
  const previousGroup = left === undefined ? undefined : nameInSentence(left.group);
  const currentGroup = next === undefined ? undefined : nameInSentence(next);
  const title = previousGroup === undefined ? t("room.gone.closed") : t("room.gone.title", { name: previousGroup });
  return (
    <div className="flex max-w-xl flex-col items-start gap-4">
      <PageHeading title={title}>{title}</PageHeading>
      <output className="block">
        {currentGroup === undefined ? t("room.gone.why") : t("room.gone.now", { name: currentGroup })}
      </output>
      {previousGroup === undefined ? null : <p className="text-soft">{t("room.gone.documents")}</p>}
      {unsent === "" ? null : (
        <label className="flex w-full flex-col gap-1">
          <span>{t("room.gone.unsent")}</span>
          <textarea
            className={`${BOX} py-2`}
            rows={Math.min(8, unsent.split("\n").length + 1)}
            readOnly
            value={unsent}
          />
        </label>
      )}
      <Button kind="main" onPress={() => void openGroup()}>
        {currentGroup !== undefined
          ? t("room.gone.go", { name: currentGroup })
          : isStaff(person)
            ? t("missing.home")
            : t("nav.groups")}
      </Button>
    </div>
  );
}
