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
import type { Group, WorkRoom } from "./workRoom";

/**
 * The student's help button: requests help, then shows since when the teacher has been notified, and who is coming. Never
 * shows a queue position: groups must not compete.
 */
export function HelpButton({ group, helper }: { group: Group; helper: WorkRoom["helpClaimedBy"] }) {
  const { t } = useTranslation();
  const isWaiting = isHelpNeeded(group);
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <output>{group.needsHelp ? <HelpRequested group={group} helper={helper} /> : null}</output>
      {isWaiting ? <WithdrawButton group={group} /> : null}
      <DialogTrigger>
        <Button
          kind={isWaiting ? "quiet" : "plain"}
          {...(isWaiting ? {} : { "aria-label": t(group.needsHelp ? "room.help.askAgain" : "room.help.ask") })}
        >
          {isWaiting ? null : <Hand aria-hidden="true" className="size-5" />}
          {isWaiting ? (
            <>
              {t("room.help.edit")} <span className="sr-only">{t("room.help.theQuestion")}</span>
            </>
          ) : (
            <>
              <span className="sm:hidden">{t("room.help.short")}</span>
              <span className="hidden sm:inline">{t(group.needsHelp ? "room.help.askAgain" : "room.help.ask")}</span>
            </>
          )}
        </Button>
        <Dialog title={t("room.help.title")}>{(close) => <HelpForm group={group} close={close} />}</Dialog>
      </DialogTrigger>
    </span>
  );
}

/** Whether the group still waits: its request is open and not marked as no longer needed. */
const isHelpNeeded = (group: Group): boolean => group.needsHelp && group.helpWithdrawnAt === null;

/** Marks the request as no longer needed. Asking again renews it, so there is no confirmation. */
function WithdrawButton({ group }: { group: Group }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const withdraw = useMutation({
    mutationFn: () => client.POST("/groups/{id}/help/withdraw", { params: { path: { id: group.id } } }),
    onSuccess: () => toast(t("room.help.withdrawn")),
    onError: (problem) => toast(errorText(problem)),
    onSettled: () => invalidate(cache, "groups"),
  });
  return (
    <Button kind="quiet" isPending={withdraw.isPending} onPress={() => withdraw.mutate()}>
      {t("room.help.withdraw")}
    </Button>
  );
}

function HelpRequested({ group, helper }: { group: Group; helper: WorkRoom["helpClaimedBy"] }) {
  const { t } = useTranslation();
  const at = useNow();
  if (!isHelpNeeded(group)) return <span className="text-soft">{t("room.help.noLongerNeeded")}</span>;
  const since = group.helpRequestedAt === null ? "" : formatMinutes(at - Date.parse(group.helpRequestedAt));
  return (
    <span className="flex items-center gap-2" title={group.helpMessage ?? undefined}>
      <span className="bg-help-ground text-help min-h-control inline-flex items-center gap-2 rounded-full border border-transparent px-3.5 font-medium">
        {helper ? (
          <>
            <Hand aria-hidden="true" className="size-5 shrink-0" />
            {t("room.help.coming", { name: helper.name })}
          </>
        ) : (
          <>
            <Hand aria-hidden="true" className="size-5" />
            <span className="sr-only sm:not-sr-only">{t("groups.helpKnown")}</span>
            {/* A live region would be read again every minute. */}
            <span aria-hidden="true" className="tabular-nums">
              {since}
            </span>
          </>
        )}
      </span>
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
    <FormBody form={form} submitLabel={t(isHelpNeeded(group) ? "room.help.send" : "room.help.ask")} close={close}>
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
        {isHelpNeeded(group)
          ? t("room.help.waits", { time: formatMinutes(at - Date.parse(group.helpRequestedAt)) })
          : t("room.help.withdrawnByGroup")}
        {group.helpMessage ? <span className="text-soft"> “{group.helpMessage}”</span> : null}
      </span>
      <Button isPending={handled.isPending} onPress={() => handled.mutate()}>
        {t("room.help.handled")}
      </Button>
    </span>
  );
}
