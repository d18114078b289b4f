import { useQueryClient } from "@tanstack/react-query";
import { createFileRoute, Link, Outlet, redirect, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Menu, MenuItem, MenuTrigger, Popover, Separator } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Keys } from "../keys/Keys";
import { goLive, type Line } from "../lib/live";
import { me, signOut, standing } from "../lib/session";
import { enterSchool, isLanguage, LANGUAGES, speak } from "../lib/words";
import { Button } from "../ui/Button";
import { Notes } from "../ui/notes";

/** Everything inside a school: whoever is not signed in, or in no school, is sent there first. */
export const Route = createFileRoute("/_school")({
  beforeLoad: async ({ context, location }) => {
    const person = await context.cache.ensureQueryData(me);
    if (!person) throw redirect({ to: "/login", search: { next: location.href } });
    if (!person.organization) throw redirect({ to: "/schools" });
    await enterSchool();
    return { person };
  },
  component: School,
});

const STAFF = [
  ["/today", "nav.today"],
  ["/courses", "nav.courses"],
  ["/submissions", "nav.submissions"],
  ["/activity", "nav.activity"],
] as const;
const TABS = {
  student: [["/groups", "nav.groups"]],
  teacher: STAFF,
  admin: [...STAFF, ["/admin", "nav.admin"]],
  owner: [...STAFF, ["/admin", "nav.admin"]],
  super: [...STAFF, ["/admin", "nav.admin"], ["/super/tenants", "nav.tenants"]],
} as const;

function School() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const line = useLine();
  return (
    <>
      <a href="#main" className="bg-sheet sr-only z-20 p-2 focus:not-sr-only focus:absolute">
        {t("app.skip")}
      </a>
      <header className="bg-sheet border-faint sticky top-0 z-10 flex flex-wrap items-center gap-x-4 gap-y-1 border-b px-4 py-1">
        <Link to="/" className="text-ink font-semibold">
          {person.organization?.name ?? t("app.name")}
        </Link>
        <nav aria-label={t("app.main")} className="flex flex-wrap gap-1">
          {TABS[standing(person)].map(([to, words]) => (
            <Link key={to} to={to} className="text-ink inline-flex min-h-11 items-center rounded-lg px-3 aria-[current=page]:font-semibold">
              {t(words)}
            </Link>
          ))}
        </nav>
        <span className="ms-auto" />
        <LineState line={line} />
        <Keys person={person} />
        <Account />
      </header>
      <main id="main" className="mx-auto max-w-6xl p-4">
        <Outlet />
      </main>
      <Notes />
    </>
  );
}

/** Holds the live channel while somebody is in the school. */
function useLine(): Line {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const [line, setLine] = useState<Line>("connecting");
  useEffect(
    () =>
      goLive(cache, setLine, () => {
        cache.clear();
        void navigate({ to: "/login" });
      }),
    [cache, navigate],
  );
  return line;
}

function LineState({ line }: { line: Line }) {
  const { t } = useTranslation();
  const words = { live: t("line.live"), connecting: t("line.connecting"), offline: t("line.offline") };
  return (
    <output className={`text-sm ${line === "offline" ? "text-bad font-medium" : "text-soft"}`}>
      <span aria-hidden="true">{line === "live" ? "● " : "○ "}</span>
      {words[line]}
    </output>
  );
}

function Account() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const act = (key: string) => {
    if (isLanguage(key)) void speak(key);
    else if (key === "school") void navigate({ to: "/schools" });
    else void signOut(cache).then(() => navigate({ to: "/login" }));
  };
  return (
    <MenuTrigger>
      <Button kind="quiet" aria-label={t("nav.account", { name: person.name })}>
        {person.name}
      </Button>
      <Popover className="bg-sheet border-line min-w-48 rounded-lg border p-1 shadow-lg">
        <Menu className="outline-none" onAction={(key) => act(String(key))}>
          {Object.entries(LANGUAGES).map(([key, name]) => (
            <Item key={key} id={key}>
              {name}
            </Item>
          ))}
          <Separator className="bg-faint my-1 h-px" />
          <Item id="school">{t("account.school")}</Item>
          <Item id="out">{t("account.signOut")}</Item>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

function Item({ id, children }: { id: string; children: string }) {
  return (
    <MenuItem id={id} className="focus:bg-faint flex min-h-11 cursor-pointer items-center rounded px-3 outline-none">
      {children}
    </MenuItem>
  );
}
