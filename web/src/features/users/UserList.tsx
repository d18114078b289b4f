import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Checkbox } from "../../forms/Checkbox";
import { RowText } from "../../components/RowText";
import type { Me } from "../../auth/session";
import { Button } from "../../components/Button";
import { LoadMore } from "../../components/LoadMore";
import { DataTable, type DataColumn } from "../../components/DataTable";
import { OverflowMenu, type MenuAction } from "../../components/base/OverflowMenu";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { Time } from "../../components/base/Time";
import { RoleBadge, UserState } from "./UserBadges";
import { BulkActions } from "./BulkActions";
import { canChangeUser, isFullUser, usersQuery, type KnownUser } from "./users";
import { type UserFilterValues } from "./filters";

interface Props {
  caller: Me;
  filters: UserFilterValues;
  /** Actions on a user. */
  menu: (user: KnownUser) => MenuAction[];
  onOpen: (user: KnownUser) => void;
}

/** The users of the school, sorted by name, and the actions on those that are selected. */
export function UserList({ caller, filters, menu, onOpen }: Props) {
  const { t } = useTranslation();
  const found = useInfiniteQuery(usersQuery(filters));
  const [selectedIds, setSelectedIds] = useState<readonly string[]>([]);
  if (found.isPending) return <ListSkeleton />;
  if (!found.data) return <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />;
  const rows = found.data.pages.flatMap((page) => page.data);
  const changeable = rows.filter((user) => canChangeUser(caller, user));
  // Users that another filter hides are not selected any more.
  const selected = changeable.filter((user) => selectedIds.includes(user.id));
  const select = (user: KnownUser, isSelected: boolean) =>
    setSelectedIds(isSelected ? [...selectedIds, user.id] : selectedIds.filter((id) => id !== user.id));
  const columns: DataColumn<KnownUser>[] = [
    {
      id: "name",
      name: t("people.name"),
      cell: (user) => (
        <span className="flex items-start gap-3">
          {canChangeUser(caller, user) ? (
            <Checkbox isSelected={selectedIds.includes(user.id)} onChange={(isSelected) => select(user, isSelected)}>
              <span className="sr-only">{t("people.bulk.select", { name: user.name })}</span>
            </Checkbox>
          ) : (
            <span className="w-6 shrink-0" />
          )}
          <UserNameCell user={user} isSelf={user.id === caller.id} onPress={() => onOpen(user)} />
        </span>
      ),
    },
    {
      id: "role",
      name: t("people.roleIs"),
      isExtra: true,
      cell: (user) => (
        <RowText>
          <RoleBadge user={user} />
        </RowText>
      ),
    },
    {
      id: "state",
      name: t("people.state"),
      isExtra: true,
      cell: (user) => (
        <RowText>
          <UserState user={user} isOkShown />
        </RowText>
      ),
    },
    {
      id: "seen",
      name: t("people.seen"),
      isExtra: true,
      cell: (user) => (
        <RowText>
          <LastSeen user={user} />
        </RowText>
      ),
    },
    {
      id: "more",
      name: t("people.more"),
      isSlim: true,
      cell: (user) => (
        <OverflowMenu
          label={user.name}
          actions={[{ id: "open", name: t("people.open"), onAction: () => onOpen(user) }, ...menu(user)]}
        />
      ),
    },
  ];
  return (
    <div className="flex flex-col gap-3" aria-busy={found.isPlaceholderData}>
      {changeable.length > 1 ? (
        <Checkbox
          isSelected={selected.length === changeable.length}
          isIndeterminate={selected.length > 0 && selected.length < changeable.length}
          onChange={(isSelected) => setSelectedIds(isSelected ? changeable.map((user) => user.id) : [])}
        >
          {t("people.bulk.all", { count: changeable.length })}
        </Checkbox>
      ) : null}
      <BulkActions caller={caller} selected={selected} onClear={() => setSelectedIds([])} />
      <DataTable label={t("admin.users")} columns={columns} rows={rows} none={t("people.none")} isLong />
      <p className="flex flex-wrap items-center gap-3">
        <span className="text-soft">{t("people.shown", { count: rows.length })}</span>
        <LoadMore pages={found} />
      </p>
    </div>
  );
}

function UserNameCell({ user, isSelf, onPress }: { user: KnownUser; isSelf: boolean; onPress: () => void }) {
  const { t } = useTranslation();
  return (
    <div className="flex min-w-0 flex-col items-start">
      <Button
        kind="quiet"
        className="text-ink! -mx-1 min-h-7! justify-start border-0 px-1! text-start [overflow-wrap:anywhere]"
        onPress={onPress}
      >
        {user.name}
        {isSelf ? <span className="text-soft font-normal">{t("people.you")}</span> : null}
      </Button>
      <span className="text-soft pb-1 text-sm [overflow-wrap:anywhere]">{user.email ?? user.username}</span>
      <span className="mt-1 flex flex-wrap gap-1 sm:hidden">
        <RoleBadge user={user} />
        <UserState user={user} />
      </span>
    </div>
  );
}

function LastSeen({ user }: { user: KnownUser }) {
  const { t } = useTranslation();
  if (!isFullUser(user)) return null;
  return (
    <span className="text-soft text-sm whitespace-nowrap">
      {user.lastLoginAt === null ? t("people.never") : <Time at={user.lastLoginAt} />}
    </span>
  );
}
