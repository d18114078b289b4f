import { useQueryClient } from "@tanstack/react-query";
import { createFileRoute, Link, Outlet, redirect, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { goLive, type Line } from "../lib/live";
import { acting, isSuper, me, type Me, standing } from "../lib/session";
import { enterSchool, speakFor } from "../lib/words";
import { Account } from "../school/Account";
import { ActingBar } from "../school/ActingBar";
import { Notes } from "../ui/notes";

/** Whether somebody can be at a place without being in a school: the own account, and the schools themselves. */
const needsNoSchool = (person: Me, path: string) => path === "/me" || (isSuper(person) && path.startsWith("/super/"));

/** Everything inside a school: whoever is not signed in, has a password others know, or is in no school, is sent there first. */
export const Route = createFileRoute("/_school")({
  beforeLoad: async ({ context, location }) => {
    const person = await context.cache.ensureQueryData(me);
    if (!person) throw redirect({ to: "/login", search: { next: location.href } });
    const next = location.href;
    if (person.mustChangePassword && !(await context.cache.ensureQueryData(acting))) throw redirect({ to: "/change-password", search: { next } });
    const isOpen = person.organization?.status === "ACTIVE" || (person.organization !== null && isSuper(person));
    if (!isOpen && !needsNoSchool(person, location.pathname)) throw redirect({ to: "/schools", search: { next } });
    await Promise.all([speakFor(person), enterSchool()]);
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
const INSTALLATION = [["/super/tenants", "nav.tenants"]] as const;
const TABS = {
  student: [["/groups", "nav.groups"]],
  teacher: STAFF,
  admin: [...STAFF, ["/admin", "nav.admin"]],
  owner: [...STAFF, ["/admin", "nav.admin"]],
  super: [...STAFF, ["/admin", "nav.admin"], ...INSTALLATION],
} as const;

/** Where a person can go: without a school, whoever runs the installation goes to the schools, and nobody anywhere else. */
function tabs(person: Me) {
  return person.organization ? TABS[standing(person)] : isSuper(person) ? INSTALLATION : [];
}

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
          {tabs(person).map(([to, words]) => (
            <Link key={to} to={to} className="text-ink inline-flex min-h-11 items-center rounded-lg px-3 aria-[current=page]:font-semibold">
              {t(words)}
            </Link>
          ))}
        </nav>
        <span className="ms-auto" />
        <LineState line={line} />
        <Account person={person} />
      </header>
      <ActingBar name={person.name} />
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
