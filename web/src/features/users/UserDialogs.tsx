import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { type Me, effectiveRole } from "../../auth/session";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { toast } from "../../components/base/toast";
import { Button } from "../../components/Button";
import { RadioGroup } from "../../forms/RadioGroup";
import { Dialog } from "../../components/Dialog";
import type { useUserActions } from "./useUserActions";
import { type KnownUser, type Role, roleOf, rolesBelow } from "./users";
import { FirstPassword } from "./FirstPassword";
import { sheetOf } from "./passwordSheets";

type UserActions = ReturnType<typeof useUserActions>;

/** Changes the role; explains the permissions of each role and that the change is immediate. */
export function ChangeRoleDialog({
  user,
  caller,
  actions,
  onClose,
}: {
  user: KnownUser;
  caller: Me;
  actions: UserActions;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const [role, setRole] = useState<Role>(roleOf(user));
  const options = rolesBelow(effectiveRole(caller)).toReversed();
  return (
    <Dialog title={t("people.roleOf", { name: user.name })} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => (
        <>
          <RadioGroup
            label={t("people.roleIs")}
            options={options.map((id) => ({ id, name: t(`role.${id}`) }))}
            value={role}
            onChange={setRole}
          />
          <p>{t(`people.may.${role}`)}</p>
          <p className="text-soft text-sm">{t("people.roleAtOnce")}</p>
          <p className="flex flex-wrap justify-end gap-2">
            <Button onPress={close}>{t("ask.cancel")}</Button>
            <Button
              kind="main"
              isDisabled={role === roleOf(user)}
              onPress={() => {
                close();
                actions.promote.mutate({ user, role });
              }}
            >
              {t("app.save")}
            </Button>
          </p>
        </>
      )}
    </Dialog>
  );
}

/** Creates a new password and shows it once; asks for confirmation because the old one stops working and the user is signed out. */
export function NewPasswordDialog({ user, onClose }: { user: KnownUser; onClose: () => void }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const reset = useMutation({
    mutationFn: () => unwrap(client.POST("/users/{id}/reset-password", { params: { path: { id: user.id } } })),
    onSuccess: () => invalidate(cache, "users"),
  });
  return (
    <Dialog
      title={t("people.newPasswordFor", { name: user.name })}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {(close) => (
        <>
          {reset.data ? <FirstPassword sheet={sheetOf(user, reset.data)} /> : <p>{t("people.newPasswordText")}</p>}
          {reset.isError ? (
            <p role="alert" className="text-bad">
              {errorText(reset.error)}
            </p>
          ) : null}
          <p className="flex flex-wrap justify-end gap-2">
            <Button onPress={close}>{reset.data ? t("app.close") : t("ask.cancel")}</Button>
            {reset.data ? null : (
              <Button kind="main" isPending={reset.isPending} onPress={() => reset.mutate()}>
                {t("people.newPasswordGo")}
              </Button>
            )}
          </p>
        </>
      )}
    </Dialog>
  );
}

/** Removes the second factor of a user who lost it. */
export function RemoveFactorDialog({ user, onClose }: { user: KnownUser; onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  const reset = useMutation({
    mutationFn: () => unwrap(client.POST("/users/{id}/reset-second-factor", { params: { path: { id: user.id } } })),
    onSuccess: async () => {
      await invalidate(cache, "users");
      toast(t("people.factorRemoved", { name: user.name }));
    },
    onError: (problem) => void toast(errorText(problem)),
  });
  return (
    <ConfirmDialog
      title={t("people.removeFactorOf", { name: user.name })}
      text={t("people.removeFactorText")}
      confirmLabel={t("people.removeFactorGo")}
      onConfirm={() => reset.mutate()}
      onClose={onClose}
    />
  );
}

/** Removes a membership: lists what is deleted and what stays; requires typing the name. */
export function RemoveUserDialog({
  user,
  actions,
  onClose,
}: {
  user: KnownUser;
  actions: UserActions;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const deletedItems = ["access", "places", "sessions"] as const;
  const keptItems = ["work", "account"] as const;
  const text = (
    <div className="flex flex-col gap-2">
      <p>{t("people.removeText", { name: user.name })}</p>
      <ul className="list-disc ps-5">
        {deletedItems.map((what) => (
          <li key={what}>{t(`people.goes.${what}`)}</li>
        ))}
      </ul>
      <p>{t("people.stays")}</p>
      <ul className="list-disc ps-5">
        {keptItems.map((what) => (
          <li key={what}>{t(`people.remains.${what}`)}</li>
        ))}
      </ul>
      <p className="text-soft text-sm">{t("people.removeInstead")}</p>
    </div>
  );
  return (
    <ConfirmDialog
      title={t("people.removeTitle", { name: user.name })}
      text={text}
      confirmLabel={t("people.removeGo")}
      requiredText={user.name}
      onConfirm={() => actions.remove.mutate(user)}
      onClose={onClose}
    />
  );
}
