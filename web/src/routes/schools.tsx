import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { createFileRoute, Link, redirect, useNavigate } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";

import { FormAlert } from "../auth/FormAlert";
import { AuthPage } from "../auth/AuthPage";
import { SignOutButton } from "../auth/SignOutButton";
import { OwnInvitations } from "../auth/OwnInvitations";
import {
  chooseSchool,
  isSuper,
  getLastSchool,
  meQuery,
  type Me,
  safeRedirect,
  type SchoolSummary,
  schoolsQuery,
} from "../auth/session";
import { Button } from "../components/Button";
import { ErrorMessage } from "../components/ErrorMessage";

interface SchoolsSearch {
  next?: string;
  /** The slug of the school whose own domain redirected here. */
  org?: string;
}

export const Route = createFileRoute("/schools")({
  validateSearch: (search: Record<string, unknown>): SchoolsSearch => ({
    ...(typeof search.next === "string" ? { next: safeRedirect(search.next) } : {}),
    ...(typeof search.org === "string" ? { org: search.org } : {}),
  }),
  beforeLoad: async ({ context }) => {
    const person = await context.cache.ensureQueryData(meQuery);
    if (!person) throw redirect({ to: "/login" });
    return { person };
  },
  component: Schools,
});

/** The school to enter without asking: the one named in the URL, the only one, or the last one; null when the user has to choose. */
function automaticSchool(list: readonly SchoolSummary[], person: Me, named: string | null): SchoolSummary | undefined {
  const byName = list.find((school) => school.slug === named);
  if (byName || person.organization) return byName;
  return list.length === 1 ? list[0] : list.find((school) => school.id === getLastSchool(person));
}

/** Selects a school; with a single or a remembered one there is nothing to choose. */
function Schools() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { person } = Route.useRouteContext();
  const { next, org } = Route.useSearch();
  const list = useQuery(schoolsQuery(person));
  const choosing = useMutation({
    mutationFn: (id: string) => chooseSchool(cache, person, id),
    onSuccess: () => navigate({ href: safeRedirect(next) }),
  });
  const isSuspended = person.organization?.status === "SUSPENDED" && !isSuper(person);
  const named = org ?? new URL(safeRedirect(next), location.origin).searchParams.get("org");
  const at = list.data && !isSuspended ? automaticSchool(list.data, person, named)?.id : undefined;
  const { mutate, isIdle } = choosing;
  useEffect(() => {
    if (at !== undefined && isIdle) mutate(at);
  }, [at, isIdle, mutate]);
  const isAsking = list.data !== undefined && (at === undefined || choosing.isError);
  const others = list.data?.filter((school) => !isSuspended || school.id !== person.organization?.id) ?? [];
  return (
    <AuthPage
      title={t("school.title")}
      below={
        <div className="flex flex-wrap justify-between gap-2">
          {person.organization && !isSuspended ? (
            <Link to="/" className="inline-flex min-h-11 items-center">
              {t("app.back")}
            </Link>
          ) : null}
          {isSuper(person) ? (
            <Link to="/super/tenants" className="inline-flex min-h-11 items-center">
              {t("school.all")}
            </Link>
          ) : null}
          <SignOutButton />
        </div>
      }
    >
      {list.isError ? <ErrorMessage problem={list.error} onRetry={() => void list.refetch()} /> : null}
      {choosing.isError ? <FormAlert problem={choosing.error} /> : null}
      {isSuspended ? <p role="alert">{t("school.shut", { name: person.organization?.name })}</p> : null}
      {list.isPending || !isAsking ? <p aria-busy="true" className="bg-faint h-11 animate-pulse rounded-lg" /> : null}
      {isAsking ? <OwnInvitations person={person} /> : null}
      {list.data?.length === 0 ? <p>{isSuper(person) ? t("school.first") : t("school.none")}</p> : null}
      {isAsking && others.length > 0 ? (
        <SchoolCards list={others} pick={(id) => choosing.mutate(id)} isPending={choosing.isPending} />
      ) : null}
    </AuthPage>
  );
}

function SchoolCards({
  list,
  pick,
  isPending,
}: {
  list: readonly SchoolSummary[];
  pick: (id: string) => void;
  isPending: boolean;
}) {
  return (
    <ul className="flex flex-col gap-2">
      {list.map((school, index) => (
        <li key={school.id}>
          <Button
            autoFocus={index === 0}
            className="min-h-14 w-full text-start"
            isPending={isPending}
            onPress={() => pick(school.id)}
          >
            <span className="min-w-0 grow wrap-anywhere">{school.name}</span>
            <ChevronRight aria-hidden="true" className="size-5 shrink-0" />
          </Button>
        </li>
      ))}
    </ul>
  );
}
