import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { invalidate } from "../../api/queryKeys";
import { type Me, effectiveRole } from "../../auth/session";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { toast } from "../../components/base/toast";
import { RadioGroup } from "../../forms/RadioGroup";
import { useErrorText } from "../../i18n/useErrorText";
import { PasswordHandout } from "./PasswordHandout";
import type { PasswordSheet } from "./passwordSheets";
import { isFullUser, type KnownUser, type Role, roleOf, rolesBelow } from "./users";

interface Props {
  caller: Me;
  selected: readonly KnownUser[];
  onClear: () => void;
}

/** Actions on several users at once: one request after the other, so that an error leaves the rest as it was. */
export function BulkActions({ caller, selected, onClear }: Props) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const [dialog, setDialog] = useState<"role" | "passwords">();
  const close = () => setDialog(undefined);
  const onSettled = () => invalidate(cache, "users", "admin");
  const onError = (problem: unknown) => void toast(errorText(problem));
  const active = selected.filter((user) => isFullUser(user) && user.isActive !== false);
  const setActive = useMutation({
    mutationFn: async ({ users, isActive }: { users: readonly KnownUser[]; isActive: boolean }) => {
      for (const user of users)
        await unwrap(client.PATCH("/users/{id}", { params: { path: { id: user.id } }, body: { isActive } }));
    },
    onSuccess: (_, { users, isActive }) => {
      onClear();
      if (isActive) toast(t("import.onAgain", { count: users.length }));
      else toast(t("import.offNow", { count: users.length }), () => setActive.mutate({ users, isActive: true }));
    },
    onError,
    onSettled,
  });
  const setRoles = useMutation({
    mutationFn: async (role: Role) => {
      const changed = selected.filter((user) => roleOf(user) !== role);
      for (const { member } of changed)
        await unwrap(
          client.PATCH("/admin/members/{id}", { params: { path: { id: member?.id ?? "" } }, body: { role } }),
        );
      return changed.length;
    },
    onSuccess: (count, role) => {
      onClear();
      toast(t("people.bulk.roleSet", { count, role: t(`role.${role}`) }));
    },
    onError,
    onSettled,
  });
  if (selected.length === 0) return null;
  return (
    <section
      aria-label={t("people.bulk.title")}
      className="bg-accent-soft flex flex-wrap items-center gap-2 rounded-xl px-3 py-2"
    >
      <output className="me-2 font-medium">{t("people.bulk.count", { count: selected.length })}</output>
      {active.length === 0 ? null : (
        <>
          <Button isPending={setActive.isPending} onPress={() => setActive.mutate({ users: active, isActive: false })}>
            {t("import.switchOff", { count: active.length })}
          </Button>
          <Button onPress={() => setDialog("passwords")}>{t("people.newPassword")}</Button>
        </>
      )}
      {rolesBelow(effectiveRole(caller)).length > 1 ? (
        <Button isPending={setRoles.isPending} onPress={() => setDialog("role")}>
          {t("people.changeRole")}
        </Button>
      ) : null}
      <Button kind="quiet" onPress={onClear}>
        {t("people.bulk.clear")}
      </Button>
      {dialog === "role" ? (
        <RoleDialog
          caller={caller}
          count={selected.length}
          onClose={close}
          onSave={(role) => {
            close();
            setRoles.mutate(role);
          }}
        />
      ) : null}
      {dialog === "passwords" ? <PasswordsDialog users={active.filter(isFullUser)} onClose={close} /> : null}
    </section>
  );
}

function RoleDialog({
  caller,
  count,
  onClose,
  onSave,
}: {
  caller: Me;
  count: number;
  onClose: () => void;
  onSave: (role: Role) => void;
}) {
  const { t } = useTranslation();
  const [role, setRole] = useState<Role>("student");
  return (
    <Dialog title={t("people.bulk.roleOf", { count })} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => (
        <>
          <RadioGroup
            label={t("people.roleIs")}
            options={rolesBelow(effectiveRole(caller))
              .toReversed()
              .map((id) => ({ id, name: t(`role.${id}`) }))}
            value={role}
            onChange={setRole}
          />
          <p>{t(`people.may.${role}`)}</p>
          <p className="text-soft text-sm">{t("people.roleAtOnce")}</p>
          <p className="flex flex-wrap justify-end gap-2">
            <Button onPress={close}>{t("ask.cancel")}</Button>
            <Button kind="main" onPress={() => onSave(role)}>
              {t("app.save")}
            </Button>
          </p>
        </>
      )}
    </Dialog>
  );
}

/** New passwords as slips: the old ones stop working, and the users are signed out. */
function PasswordsDialog({
  users,
  onClose,
}: {
  users: readonly Extract<KnownUser, { view: "FULL" }>[];
  onClose: () => void;
}) {
  const { t } = useTranslation();
  // The users of the opened dialog: the list is fetched again while passwords are created.
  const [given] = useState(users);
  const [sheets, setSheets] = useState<readonly PasswordSheet[]>([]);
  return (
    <Dialog
      title={t("people.bulk.passwords", { count: given.length })}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {(close) => (
        <>
          <p>{t(sheets.length === given.length ? "people.handout.made" : "people.bulk.passwordsText")}</p>
          <PasswordHandout users={given} sheets={sheets} onSheets={setSheets} of={() => undefined} />
          <p className="flex justify-end">
            <Button onPress={close}>{t(sheets.length > 0 ? "app.close" : "ask.cancel")}</Button>
          </p>
        </>
      )}
    </Dialog>
  );
}
