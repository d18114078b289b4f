// Actions on users that can be undone; each shows a toast with an undo.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { toast } from "../../components/base/toast";
import { type KnownUser, type Role, roleOf } from "./users";

/** Returns the mutations that activate or deactivate users, change their role, and remove them. */
export function useUserActions() {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const refresh = () => invalidate(cache, "users", "admin");
  const onError = (problem: unknown) => void toast(errorText(problem));
  const setActive = useMutation({
    mutationFn: ({ user, isActive }: { user: KnownUser; isActive: boolean; isUndo?: boolean }) =>
      unwrap(client.PATCH("/users/{id}", { params: { path: { id: user.id } }, body: { isActive } })),
    onSuccess: async (_, { user, isActive, isUndo }) => {
      await refresh();
      const message = t(isActive ? "people.switchedOn" : "people.switchedOff", { name: user.name });
      toast(message, isUndo ? undefined : () => setActive.mutate({ user, isActive: !isActive, isUndo: true }));
    },
    onError,
  });
  const promote = useMutation({
    mutationFn: ({ user, role }: { user: KnownUser; role: Role; isUndo?: boolean }) =>
      unwrap(client.PATCH("/admin/members/{id}", { params: { path: { id: user.member?.id ?? "" } }, body: { role } })),
    onSuccess: async (_, { user, role, isUndo }) => {
      await refresh();
      const message = t("people.isNow", { name: user.name, role: t(`role.${role}`) });
      toast(message, isUndo ? undefined : () => promote.mutate({ user, role: roleOf(user), isUndo: true }));
    },
    onError,
  });
  const remove = useMutation({
    mutationFn: (user: KnownUser) => unwrap(client.DELETE("/users/{id}", { params: { path: { id: user.id } } })),
    onSuccess: async (_, user) => {
      await Promise.all([refresh(), invalidate(cache, "homerooms")]);
      toast(t("people.removed", { name: user.name }));
    },
    onError,
  });
  return { allow: setActive, promote, remove };
}
