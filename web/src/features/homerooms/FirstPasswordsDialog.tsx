import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { queryKeys } from "../../api/queryKeys";
import { PasswordHandout } from "../users/PasswordHandout";
import { fetchAllUsers, isFullUser, type FullUser } from "../users/users";
import type { PasswordSheet } from "../users/passwordSheets";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { Dialog } from "../../components/Dialog";
import type { Homeroom } from "./homerooms";

/** Creates first passwords for students of a homeroom who have never signed in, to be handed out. */
export function FirstPasswordsDialog({ homeroom, onClose }: { homeroom: Homeroom; onClose: () => void }) {
  const { t } = useTranslation();
  const [sheets, setSheets] = useState<PasswordSheet[]>([]);
  const found = useQuery({
    queryKey: queryKeys.users.unseen(homeroom.id),
    queryFn: async () =>
      (await fetchAllUsers({ homeroomId: homeroom.id, role: "STUDENT", isActive: "1" })).filter(
        (user): user is FullUser => isFullUser(user) && user.lastLoginAt === null,
      ),
    // The list must not change while passwords are being created.
    staleTime: Infinity,
    gcTime: 0,
  });
  const open = (found.data?.length ?? 0) - sheets.length;
  return (
    <Dialog
      title={t("homerooms.firstPasswords", { name: homeroom.name })}
      role="alertdialog"
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {(close) => (
        <>
          {found.isPending ? <ListSkeleton count={2} /> : null}
          {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
          {found.data?.length === 0 ? <p>{t("homerooms.allSeen")}</p> : null}
          {found.data && found.data.length > 0 ? (
            <>
              <p>{open > 0 ? t("homerooms.unseen", { count: open }) : t("people.handout.made")}</p>
              {open > 0 ? <p className="text-soft text-sm">{t("people.handout.text")}</p> : null}
              <PasswordHandout users={found.data} sheets={sheets} onSheets={setSheets} of={() => homeroom.name} />
            </>
          ) : null}
          <p className="flex justify-end">
            <Button onPress={close}>{t("app.close")}</Button>
          </p>
        </>
      )}
    </Dialog>
  );
}
