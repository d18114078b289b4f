import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { signIn } from "../lib/session";
import { Button } from "../ui/Button";
import { Alert } from "./Alert";

interface Demo {
  password: string;
  people: { role: string; name: string; email: string }[];
}

const isDemo = (found: unknown): found is Demo =>
  typeof found === "object" && found !== null && "password" in found && "people" in found && Array.isArray(found.people);

/** Buttons that let whoever tries the product in as one of the people of the demo; nothing where that is not to be had. */
export function DemoPeople({ from, onEnter }: { from: string; onEnter: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const demo = useQuery({
    queryKey: ["demo"],
    queryFn: async () => {
      const found: unknown = await (await fetch(from)).json();
      if (!isDemo(found)) throw new Error("no demo");
      return found;
    },
    retry: false,
  });
  const entering = useMutation({
    mutationFn: (email: string) => signIn(cache, email, demo.data?.password ?? ""),
    onSuccess: onEnter,
  });
  if (!demo.data) return null;
  return (
    <section aria-label={t("demo.title")} className="flex flex-col gap-2">
      <h2>{t("demo.title")}</h2>
      <p className="text-soft text-sm">{t("demo.text")}</p>
      {entering.isError ? <Alert problem={entering.error} /> : null}
      <ul className="grid gap-2">
        {demo.data.people.map((one) => (
          <li key={one.email}>
            <Button className="w-full" isPending={entering.isPending} onPress={() => entering.mutate(one.email)}>
              <span className="grow text-start">{t(`demo.${one.role}`, { name: one.name })}</span>
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
