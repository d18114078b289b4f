import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { meQuery } from "../../auth/session";
import { Skeleton } from "../../components/base/Skeleton";
import { Time } from "../../components/base/Time";
import { toast } from "../../components/base/toast";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { ErrorMessage } from "../../components/ErrorMessage";
import { SettingsSection } from "../../components/SettingsSection";
import { FormBody } from "../../forms/FormDialog";
import { PasswordField } from "../../forms/PasswordField";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import { accountSessionsQuery } from "../account/account";
import { AddPasskey, useFreshSession } from "./AddPasskey";
import { type Passkey, passkeysQuery, removePasskey, renamePasskey } from "./passkeys";

/** The passkeys of the user: adding, renaming and removing them. */
export function PasskeySection() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const list = useQuery(passkeysQuery);
  const [open, setOpen] = useState<"add" | { rename: Passkey } | { remove: Passkey }>();
  const close = () => setOpen(undefined);
  const refresh = async (told: string) => {
    close();
    toast(told);
    await Promise.all(
      [passkeysQuery, accountSessionsQuery, meQuery].map(({ queryKey }) => cache.invalidateQueries({ queryKey })),
    );
  };
  const dialog = { isOpen: true, onOpenChange: (isOpen: boolean) => isOpen || close() };
  return (
    <SettingsSection title={t("passkey.title")} text={t("passkey.text")}>
      {list.isPending ? <Skeleton count={1} /> : null}
      {list.isError ? <ErrorMessage problem={list.error} onRetry={() => void list.refetch()} /> : null}
      <ul className="divide-faint divide-y">
        {list.data?.map((passkey) => (
          <PasskeyRow
            key={passkey.id}
            passkey={passkey}
            rename={() => setOpen({ rename: passkey })}
            remove={() => setOpen({ remove: passkey })}
          />
        ))}
      </ul>
      <Button className="self-start" onPress={() => setOpen("add")}>
        {t("passkey.add")}
      </Button>
      {open === "add" ? (
        <Dialog title={t("passkey.addTitle")} {...dialog}>
          {() => <AddPasskey close={close} onDone={() => refresh(t("passkey.added"))} />}
        </Dialog>
      ) : null}
      {typeof open === "object" && "rename" in open ? (
        <Dialog title={t("passkey.renameTitle")} {...dialog}>
          {() => <Rename passkey={open.rename} close={close} onDone={() => refresh(t("passkey.renamed"))} />}
        </Dialog>
      ) : null}
      {typeof open === "object" && "remove" in open ? (
        <Dialog title={t("passkey.removeTitle")} {...dialog}>
          {() => <Remove passkey={open.remove} close={close} onDone={() => refresh(t("passkey.removed"))} />}
        </Dialog>
      ) : null}
    </SettingsSection>
  );
}

interface RowProps {
  passkey: Passkey;
  rename: () => void;
  remove: () => void;
}

function PasskeyRow({ passkey, rename, remove }: RowProps) {
  const { t } = useTranslation();
  const name = passkey.name ?? t("passkey.unnamed");
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2">
      <div className="min-w-0 grow">
        <p className="font-medium break-words">{name}</p>
        <p className="text-soft text-sm">
          {t("passkey.since")} <Time at={passkey.createdAt} />
          {passkey.lastUsedAt === null ? null : (
            <>
              {" · "}
              {t("passkey.lastUsed")} <Time at={passkey.lastUsedAt} />
            </>
          )}
        </p>
      </div>
      <Button onPress={rename} aria-label={t("passkey.renameOne", { name })}>
        {t("passkey.rename")}
      </Button>
      <Button onPress={remove} aria-label={t("passkey.removeOne", { name })}>
        {t("passkey.remove")}
      </Button>
    </li>
  );
}

interface PartProps {
  passkey: Passkey;
  close: () => void;
  onDone: () => unknown;
}

function Rename({ passkey, close, onDone }: PartProps) {
  const { t } = useTranslation();
  const form = useForm({
    initial: { name: passkey.name ?? "" },
    send: ({ name }) => renamePasskey(passkey.id, name.trim()),
    onSent: onDone,
  });
  return (
    <FormBody
      form={form}
      submitLabel={t("passkey.renameGo")}
      isIncomplete={form.values.name.trim() === ""}
      close={close}
    >
      <TextField label={t("passkey.name")} maxLength={80} isRequired {...form.field("name")} />
    </FormBody>
  );
}

function Remove({ passkey, close, onDone }: PartProps) {
  const { t } = useTranslation();
  const { needsPassword, onFailed, passwordOf } = useFreshSession();
  const form = useForm({
    initial: {},
    send: (_, fields) => removePasskey(passkey.id, passwordOf(fields)),
    onSent: onDone,
    onFailed,
    codes: { INVALID_PASSWORD: "password" },
  });
  return (
    <FormBody form={form} submitLabel={t("passkey.remove")} close={close}>
      <p>{t("passkey.removeText", { name: passkey.name ?? t("passkey.unnamed") })}</p>
      {needsPassword ? (
        <PasswordField label={t("me.passwordNow")} name="password" problem={form.problemAt("password")} />
      ) : null}
    </FormBody>
  );
}
