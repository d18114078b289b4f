import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
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
  const demo = useDemo(from);
  const entering = useMutation({
    mutationFn: (email: string) => signIn(cache, email, demo?.password ?? ""),
    onSuccess: onEnter,
  });
  if (!demo) return null;
  return (
    <section aria-label={t("demo.title")} className="flex flex-col gap-2">
      <h2>{t("demo.title")}</h2>
      <p className="text-soft text-sm">{t("demo.text")}</p>
      {entering.isError ? <Alert problem={entering.error} /> : null}
      <ul className="grid gap-2">
        {demo.people.map((one) => (
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

/** Asks for the people of the demo, once and by hand: the machinery of queries would make every first visit heavier. */
function useDemo(from: string): Demo | undefined {
  const [demo, setDemo] = useState<Demo>();
  useEffect(() => {
    const left = new AbortController();
    fetch(from, { signal: left.signal })
      .then((answer) => answer.json())
      .then((found: unknown) => isDemo(found) && setDemo(found))
      // Without an answer the form is all there is.
      .catch(() => undefined);
    return () => left.abort();
  }, [from]);
  return demo;
}
