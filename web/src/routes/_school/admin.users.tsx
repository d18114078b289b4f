import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Link } from "@tanstack/react-router";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { AdminPage } from "../../features/organization/AdminPage";
import { isAdmin, requireRole } from "../../auth/session";
import { AddUserDialog } from "../../features/users/AddUserDialog";
import { useUserActions } from "../../features/users/useUserActions";
import { UserFilters } from "../../features/users/UserFilters";
import { InvitationList } from "../../features/users/InvitationList";
import { UserList } from "../../features/users/UserList";
import { type UserDialogKind, useUserMenu } from "../../features/users/useUserMenu";
import { userCountsQuery, type KnownUser } from "../../features/users/users";
import { UserDialog } from "../../features/users/UserDialog";
import { PasswordSheets } from "../../features/users/PasswordSheets";
import {
  ChangeRoleDialog,
  NewPasswordDialog,
  RemoveFactorDialog,
  RemoveUserDialog,
} from "../../features/users/UserDialogs";
import { Button, buttonClass } from "../../components/Button";
import { type UserFilterValues as Wanted, ROLE_FILTERS } from "../../features/users/filters";

interface Search extends Wanted {
  /** Id of the user whose dialog is open. */
  person?: string | undefined;
}

export const Route = createFileRoute("/_school/admin/users")({
  beforeLoad: requireRole(isAdmin),
  validateSearch: (search: Record<string, unknown>): Search => {
    const text = (value: unknown) =>
      typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined;
    const wanted: Search = {
      search: text(search.search),
      role: ROLE_FILTERS.find((role) => role === search.role),
      homeroomId: text(search.homeroomId),
      isActive: (["1", "0"] as const).find((state) => state === text(search.isActive)),
      person: text(search.person),
    };
    return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  },
  component: Users,
});

/** The users of the school. */
function Users() {
  const { t } = useTranslation();
  const { person: caller } = Route.useRouteContext();
  const { person, ...filters } = Route.useSearch();
  const navigate = Route.useNavigate();
  const userActions = useUserActions();
  const [isAdding, setAdding] = useState(false);
  const [dialog, setDialog] = useState<{ what: UserDialogKind; user: KnownUser } | null>(null);
  const close = () => setDialog(null);
  const menu = useUserMenu(caller, userActions, (what, user) => {
    setDialog({ what, user });
    if (person !== undefined) void navigate({ search: filters, replace: true });
  });
  const actions = (
    <>
      <Link to="/admin/import" className={buttonClass()}>
        {t("people.toImport")}
      </Link>
      <Button kind="main" onPress={() => setAdding(true)}>
        <UserPlus aria-hidden="true" className="size-4" />
        {t("people.add")}
      </Button>
    </>
  );
  return (
    <AdminPage title={t("admin.users")} actions={actions}>
      <UserCounts />
      <UserFilters filters={filters} onChange={(wanted) => void navigate({ search: wanted, replace: true })} />
      <InvitationList />
      <UserList
        caller={caller}
        filters={filters}
        menu={menu}
        onOpen={(user) => void navigate({ search: { ...filters, person: user.id } })}
      />
      {isAdding ? <AddUserDialog caller={caller} onClose={() => setAdding(false)} /> : null}
      {person === undefined ? null : (
        <UserDialog
          id={person}
          caller={caller}
          menu={menu}
          onClose={() => void navigate({ search: filters, replace: true })}
        />
      )}
      {dialog?.what === "role" ? (
        <ChangeRoleDialog user={dialog.user} caller={caller} actions={userActions} onClose={close} />
      ) : null}
      {dialog?.what === "password" ? <NewPasswordDialog user={dialog.user} onClose={close} /> : null}
      {dialog?.what === "factor" ? <RemoveFactorDialog user={dialog.user} onClose={close} /> : null}
      {dialog?.what === "remove" ? <RemoveUserDialog user={dialog.user} actions={userActions} onClose={close} /> : null}
      <PasswordSheets caller={caller} />
    </AdminPage>
  );
}

/** Number of users by role. */
function UserCounts() {
  const { t } = useTranslation();
  const { data: found } = useQuery(userCountsQuery);
  if (!found) return <p className="min-h-6" />;
  const { owner, admin, teacher, student } = found.users;
  return (
    <p className="text-soft">
      {[
        t("people.counts.students", { count: student }),
        t("people.counts.teachers", { count: teacher }),
        t("people.counts.admins", { count: admin + owner }),
      ].join(" · ")}
    </p>
  );
}
