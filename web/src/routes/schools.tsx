import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { createFileRoute, redirect, useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";

import { chooseSchool, me, schools, signOut } from "../lib/session";
import { Button } from "../ui/Button";
import { Heading } from "../ui/Heading";
import { Problems } from "../ui/Problems";
import { Shape } from "../ui/Shape";

export const Route = createFileRoute("/schools")({
  beforeLoad: async ({ context }) => {
    if (!(await context.cache.ensureQueryData(me))) throw redirect({ to: "/login" });
  },
  component: Schools,
});

/** S1b: the choice of a school; with one only there is nothing to choose. */
function Schools() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const list = useQuery(schools);
  const choosing = useMutation({
    mutationFn: (id: string) => chooseSchool(cache, id),
    onSuccess: () => navigate({ to: "/" }),
  });
  const only = list.data?.length === 1 ? list.data[0] : undefined;
  const { mutate, isIdle } = choosing;
  useEffect(() => {
    if (only && isIdle) mutate(only.id);
  }, [only, isIdle, mutate]);
  return (
    <main className="mx-auto flex max-w-md flex-col gap-4 p-4 pt-12">
      <Heading title={t("school.title")}>{t("school.title")}</Heading>
      {list.isPending ? <Shape count={2} /> : null}
      {list.isError ? <Problems problem={list.error} again={() => void list.refetch()} /> : null}
      {choosing.isError ? <Problems problem={choosing.error} /> : null}
      {list.data?.length === 0 ? <p>{t("school.none")}</p> : null}
      <ul className="flex flex-col gap-2">
        {list.data?.map((school) => (
          <li key={school.id}>
            <Button className="w-full justify-start" isPending={choosing.isPending} onPress={() => choosing.mutate(school.id)}>
              {school.name}
            </Button>
          </li>
        ))}
      </ul>
      <Button kind="quiet" onPress={() => void signOut(cache).then(() => navigate({ to: "/login" }))}>
        {t("account.signOut")}
      </Button>
    </main>
  );
}
