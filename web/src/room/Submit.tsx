import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { CheckboxGroup, DialogTrigger, Label } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { now } from "../lib/clock";
import { useTime } from "../lib/time";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { Problems } from "../ui/Problems";
import { Radios } from "../ui/Radios";
import { Window } from "../ui/Window";
import { candidates, lateMinutes, likelyDocuments, likelyTopic, relinked, useHandIn } from "./hand-in";
import { type Document, fileName, lateFrom, type Topic, topicOf, useNames, type WorkRoom } from "./room";

interface Props {
  found: WorkRoom;
  topic: Topic;
  /** The one that is open, if one is. */
  document?: Document | undefined;
}

/** The button, and the window in which is chosen what is handed in and for which topic. */
export function Submit(props: Props) {
  const { t } = useTranslation();
  return (
    <DialogTrigger>
      <Button kind="main">{t("room.handIn.open")}</Button>
      <Window title={t("room.handIn.title")}>{(close) => <Choose {...props} close={close} />}</Window>
    </DialogTrigger>
  );
}

function Choose({ found, topic, document, close }: Props & { close: () => void }) {
  const { t } = useTranslation();
  const drafts = found.documents.filter((one) => one.status === "DRAFT" && one.canEdit);
  const topics = useQuery(candidates(found.groupId));
  const [chosen, setChosen] = useState<string>();
  const [ticked, setTicked] = useState<string[]>();
  const assignmentId = chosen ?? likelyTopic(topics.data ?? [], document?.assignmentId, topic.assignmentId);
  const documents = ticked ?? likelyDocuments(drafts, assignmentId ?? topic.assignmentId, document?.id);
  const leaving = relinked(drafts, documents, assignmentId);
  const own = found.groupAssignments.find((one) => one.assignmentId === assignmentId);
  const { data: whole } = useQuery({ ...topicOf(assignmentId ?? ""), enabled: assignmentId !== undefined });
  const handIn = useHandIn(found, useNames(found), close);
  const { moment } = useTime();
  const lateBy = own ? now() - lateFrom(own) : 0;
  const isClosed = lateBy > 0 && whole?.latePolicy === "BLOCK";
  const still = whole && own ? Math.max(0, whole.requiredSubmissions - own.submittedCount) : 0;
  if (topics.isError) return <Problems problem={topics.error} again={() => void topics.refetch()} />;
  if (topics.data?.length === 0) return <p>{t("room.handIn.none")}</p>;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (assignmentId !== undefined && documents.length > 0 && !isClosed && !handIn.isPending) handIn.mutate({ documents, assignmentId });
      }}
    >
      <CheckboxGroup value={documents} onChange={setTicked} className="flex flex-col">
        <Label className="font-medium">{t("room.handIn.documents")}</Label>
        {drafts.map((one) => (
          <Check key={one.id} value={one.id}>
            <span className="min-w-0 break-words">{fileName(one)}</span>
          </Check>
        ))}
      </CheckboxGroup>
      {still > 1 ? <p>{t("room.handIn.still", { count: still })}</p> : null}
      {(topics.data?.length ?? 0) > 1 && assignmentId !== undefined ? (
        <Radios
          label={t("room.topic")}
          value={assignmentId}
          onChange={(id) => {
            setChosen(id);
            setTicked(undefined);
          }}
          options={(topics.data ?? []).map((one) => ({ id: one.assignmentId, name: t("room.handIn.topic", { title: one.title, when: moment(one.deadline) }) }))}
        />
      ) : (
        <p>{t("room.handIn.for", { title: topics.data?.find((one) => one.assignmentId === assignmentId)?.title ?? topic.assignment.title })}</p>
      )}
      {leaving.map((one) => (
        <p key={one.id} className="text-warn">
          {t("room.handIn.relink", { name: fileName(one), title: found.groupAssignments.find((link) => link.assignmentId === one.assignmentId)?.assignment.title ?? t("room.topic") })}
        </p>
      ))}
      {isClosed ? <p className="text-bad">{t("room.handIn.closed")}</p> : null}
      {lateBy > 0 && !isClosed ? <p className="text-warn">{t("room.handIn.isLate", { count: lateMinutes(lateBy / 1000) })}</p> : null}
      <p>{t("room.handIn.effect")}</p>
      {handIn.isError ? <Problems problem={handIn.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button kind="main" type="submit" isDisabled={assignmentId === undefined || documents.length === 0 || isClosed} isPending={handIn.isPending}>
          {t("room.handIn.go")}
        </Button>
      </p>
    </form>
  );
}
