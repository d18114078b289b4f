import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Link } from "@tanstack/react-router";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Page } from "../../admin/Page";
import { isAdmin, only } from "../../lib/session";
import { Add } from "../../people/Add";
import { useDeeds } from "../../people/deeds";
import { Filters } from "../../people/Filters";
import { Invited } from "../../people/Invited";
import { List } from "../../people/List";
import { type Opened, useMenu } from "../../people/menu";
import { counts, type Filters as Wanted, type Known, ROLE_FILTERS } from "../../people/people";
import { Person } from "../../people/Person";
import { Slips } from "../../people/Slips";
import { ChangeRole, NewPassword, Remove } from "../../people/Windows";
import { Button } from "../../ui/Button";

interface Search extends Wanted {
  /** Who is looked at. */
  person?: string | undefined;
}

export const Route = createFileRoute("/_school/admin/users")({
  beforeLoad: only(isAdmin),
  validateSearch: (search: Record<string, unknown>): Search => {
    const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined);
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

/** S14: the people of the school. */
function Users() {
  const { t } = useTranslation();
  const { person: caller } = Route.useRouteContext();
  const { person, ...filters } = Route.useSearch();
  const navigate = Route.useNavigate();
  const deeds = useDeeds();
  const [isAdding, setAdding] = useState(false);
  const [opened, setOpened] = useState<{ what: Opened; user: Known } | null>(null);
  const close = () => setOpened(null);
  const menu = useMenu(caller, deeds, (what, user) => {
    setOpened({ what, user });
    if (person !== undefined) void navigate({ search: filters, replace: true });
  });
  const actions = (
    <>
      <Link to="/admin/import" className="border-line bg-sheet text-ink inline-flex min-h-11 items-center rounded-lg border px-4 font-medium hover:no-underline hover:brightness-95">
        {t("people.toImport")}
      </Link>
      <Button kind="main" onPress={() => setAdding(true)}>
        <UserPlus aria-hidden="true" className="size-4" />
        {t("people.add")}
      </Button>
    </>
  );
  return (
    <Page title={t("admin.users")} actions={actions}>
      <Counts />
      <Filters wanted={filters} onChange={(wanted) => void navigate({ search: wanted, replace: true })} />
      <Invited />
      <List
        caller={caller}
        filters={filters}
        menu={menu}
        onPerson={(user) => void navigate({ search: { ...filters, person: user.id } })}
      />
      {isAdding ? <Add caller={caller} onClose={() => setAdding(false)} /> : null}
      {person === undefined ? null : <Person id={person} caller={caller} menu={menu} onClose={() => void navigate({ search: filters, replace: true })} />}
      {opened?.what === "role" ? <ChangeRole user={opened.user} caller={caller} deeds={deeds} onClose={close} /> : null}
      {opened?.what === "password" ? <NewPassword user={opened.user} onClose={close} /> : null}
      {opened?.what === "remove" ? <Remove user={opened.user} deeds={deeds} onClose={close} /> : null}
      <Slips caller={caller} />
    </Page>
  );
}

/** How many there are, by role. */
function Counts() {
  const { t } = useTranslation();
  const { data: found } = useQuery(counts);
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
