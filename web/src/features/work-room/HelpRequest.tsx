import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Hand } from "lucide-react";
import { DialogTrigger } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client } from "../../api/client";
import { formatMinutes, useNow } from "../../hooks/serverClock";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { FormBody } from "../../forms/FormDialog";
import { useForm } from "../../forms/useForm";
import { TextArea } from "../../forms/TextArea";
import { Button } from "../../components/Button";
import { toast } from "../../components/base/toast";
import { Dialog } from "../../components/Dialog";
import type { Group } from "./workRoom";

/**
 * The student's help button: requests help, then shows since when the teacher has been notified. Never shows a queue
 * position: groups must not compete.
 */
export function HelpButton({ group }: { group: Group }) {
  const { t } = useTranslation();
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      {group.needsHelp ? <HelpRequested group={group} /> : null}
      <DialogTrigger>
        <Button kind={group.needsHelp ? "quiet" : "plain"}>
          {group.needsHelp ? null : <Hand aria-hidden="true" className="size-5" />}
          {group.needsHelp ? (
            <>
              {t("room.help.edit")} <span className="sr-only">{t("room.help.theQuestion")}</span>
            </>
          ) : (
            t("room.help.ask")
          )}
        </Button>
        <Dialog title={t("room.help.title")}>{(close) => <HelpForm group={group} close={close} />}</Dialog>
      </DialogTrigger>
    </span>
  );
}

function HelpRequested({ group }: { group: Group }) {
  const { t } = useTranslation();
  const at = useNow();
  const since = group.helpRequestedAt === null ? "" : formatMinutes(at - Date.parse(group.helpRequestedAt));
  return (
    <span className="flex flex-col">
      <span className="font-medium">
        <Hand aria-hidden="true" className="text-warn inline size-5" /> {t("groups.helpKnown")}{" "}
        <span className="tabular-nums">({since})</span>
      </span>
      {group.helpMessage ? <span className="text-soft max-w-60 truncate text-sm">“{group.helpMessage}”</span> : null}
    </span>
  );
}

function HelpForm({ group, close }: { group: Group; close: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const form = useForm({
    initial: { message: group.helpMessage ?? "" },
    send: (values) => {
      const message = values.message.trim();
      return client.POST("/groups/{id}/help", {
        params: { path: { id: group.id } },
        body: message === "" ? {} : { message },
      });
    },
    onSent: () => {
      toast(t("room.help.called"));
      close();
    },
    onSettled: () => invalidate(cache, "groups"),
  });
  return (
    <FormBody form={form} submitLabel={t(group.needsHelp ? "room.help.send" : "room.help.ask")} close={close}>
      <TextArea
        label={t("room.help.about")}
        hint={t("room.help.hint")}
        maxLength={500}
        rows={3}
        {...form.field("message")}
      />
    </FormBody>
  );
}

/** Shows a help request to a visiting teacher, who can mark it as handled. */
export function HelpRequestBanner({ group }: { group: Group }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const at = useNow();
  const handled = useMutation({
    mutationFn: () => client.POST("/groups/{id}/help/resolve", { params: { path: { id: group.id } }, body: {} }),
    onError: (problem) => toast(errorText(problem)),
    onSettled: () => invalidate(cache, "groups", "board"),
  });
  if (!group.needsHelp || group.helpRequestedAt === null) return null;
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <span>
        <Hand aria-hidden="true" className="text-warn inline size-5" />{" "}
        {t("room.help.waits", { time: formatMinutes(at - Date.parse(group.helpRequestedAt)) })}
        {group.helpMessage ? <span className="text-soft"> “{group.helpMessage}”</span> : null}
      </span>
      <Button isPending={handled.isPending} onPress={() => handled.mutate()}>
        {t("room.help.handled")}
      </Button>
    </span>
  );
}
