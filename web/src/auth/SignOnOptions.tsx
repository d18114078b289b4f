import { useEffect, useState } from "react";
import { useMutation } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, Problem, unwrap, type Schemas } from "../api/client";
import { Button } from "../components/Button";
import { translateIfKnown } from "../i18n";
import { FormAlert } from "./FormAlert";

/** Sign-in buttons for the providers of a school, and the reason why a provider did not sign the user in. */
export function SignOnOptions({ slug, next, error }: { slug?: string; next: string; error?: string }) {
  const { t } = useTranslation();
  const options = useSignOnOptions(slug);
  const starting = useMutation({
    mutationFn: async (providerId: string) => {
      const back = new URLSearchParams({ ...(slug === undefined ? {} : { org: slug }), next });
      const body = { providerId, callbackURL: next, errorCallbackURL: `/login?${back.toString()}` };
      const { url } = await unwrap(client.POST("/auth/sign-in/sso", { body }));
      window.location.assign(url);
    },
  });
  const isUnusable = starting.error instanceof Problem && starting.error.code === "SIGN_ON_FAILED";
  const reason = isUnusable ? "other" : starting.isError ? undefined : error;
  return (
    <section aria-label={t("signOn.options")} className="flex flex-col gap-2">
      {reason === undefined ? null : (
        <p role="alert" className="text-bad">
          {translateIfKnown(`signOn.failed.${reason}`) ?? t("signOn.failed.other")}
        </p>
      )}
      {starting.isError && !isUnusable ? <FormAlert problem={starting.error} /> : null}
      {options.map(({ id, name }) => (
        <Button key={id} className="w-full" isPending={starting.isPending} onPress={() => starting.mutate(id)}>
          {t("signOn.with", { name })}
        </Button>
      ))}
    </section>
  );
}

/** Fetches the providers once; without a response only the form is shown. */
function useSignOnOptions(slug?: string): Schemas["SignOnOption"][] {
  const [options, setOptions] = useState<Schemas["SignOnOption"][]>([]);
  useEffect(() => {
    let isGone = false;
    if (slug !== undefined)
      unwrap(client.GET("/sign-on/providers", { params: { query: { organizationSlug: slug } } }))
        .then((found) => isGone || setOptions(found))
        .catch(() => undefined);
    return () => void (isGone = true);
  }, [slug]);
  return options;
}
