import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { signOut } from "../lib/session";
import { Button } from "../ui/Button";
import { Alert } from "./Alert";

/** The way out of a page before the school. */
export function Leave() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const leaving = useMutation({ mutationFn: () => signOut(cache), onSuccess: () => navigate({ to: "/login" }) });
  return (
    <>
      {leaving.isError ? <Alert problem={leaving.error} /> : null}
      <Button kind="quiet" className="self-start px-0" isPending={leaving.isPending} onPress={() => leaving.mutate()}>
        {t("account.signOut")}
      </Button>
    </>
  );
}
