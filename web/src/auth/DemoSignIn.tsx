import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { signIn } from "./session";
import { Button } from "../components/Button";
import { FormAlert } from "./FormAlert";

interface DemoAccounts {
  password: string;
  people: { role: "teacher" | "student" | "admin" | "super"; name: string; email: string }[];
}

const isDemoAccounts = (found: unknown): found is DemoAccounts =>
  typeof found === "object" &&
  found !== null &&
  "password" in found &&
  "people" in found &&
  Array.isArray(found.people);

/** Sign-in buttons for the users of the demo; renders nothing outside the demo. */
export function DemoSignIn({ source, onEnter }: { source: string; onEnter: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const demo = useDemoAccounts(source);
  const signingIn = useMutation({
    mutationFn: (email: string) => signIn(cache, email, demo?.password ?? ""),
    onSuccess: onEnter,
  });
  if (!demo) return null;
  return (
    <section aria-label={t("demo.title")} className="flex flex-col gap-2">
      <h2>{t("demo.title")}</h2>
      <p className="text-soft text-sm">{t("demo.text")}</p>
      {signingIn.isError ? <FormAlert problem={signingIn.error} /> : null}
      <ul className="grid gap-2">
        {demo.people.map((one) => (
          <li key={one.email}>
            <Button className="w-full" isPending={signingIn.isPending} onPress={() => signingIn.mutate(one.email)}>
              <span className="grow text-start">{t(`demo.${one.role}`, { name: one.name })}</span>
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Fetches the demo accounts once, without the query cache, which would add to the size of every first visit. */
function useDemoAccounts(source: string): DemoAccounts | undefined {
  const [demo, setDemo] = useState<DemoAccounts>();
  useEffect(() => {
    const left = new AbortController();
    fetch(source, { signal: left.signal })
      .then((answer) => answer.json())
      .then((found: unknown) => isDemoAccounts(found) && setDemo(found))
      // Without a response only the form is shown.
      .catch(() => undefined);
    return () => left.abort();
  }, [source]);
  return demo;
}
