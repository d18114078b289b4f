import { useMutation } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { beginSessionSwitch, loadFreshPage, cancelSessionSwitch } from "../../auth/sessionEnd";
import { clearPageSchool } from "../../auth/pageSchool";
import { Button } from "../Button";
import { toast } from "../base/toast";

/** Shown on every screen while a platform administrator impersonates a user; ends the impersonation. */
export function ImpersonationBanner({ name }: { name: string }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const stopping = useMutation({
    mutationFn: () => client.POST("/auth/admin/stop-impersonating"),
    onMutate: beginSessionSwitch,
    onSuccess: () => {
      clearPageSchool();
      loadFreshPage("/super/tenants");
    },
    onError: (problem) => {
      cancelSessionSwitch();
      toast(errorText(problem));
    },
  });
  return (
    <section
      aria-label={t("acting.title")}
      className="bg-warn text-page flex flex-wrap items-center justify-center gap-x-4 gap-y-1 px-4 py-1"
    >
      <p className="font-medium">{t("acting.text", { name })}</p>
      <Button isPending={stopping.isPending} onPress={() => stopping.mutate()}>
        {t("acting.stop")}
      </Button>
    </section>
  );
}
