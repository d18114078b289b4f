import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { signOut } from "./session";
import { Button } from "../components/Button";
import { FormAlert } from "./FormAlert";

/** Signs out from a page that is shown before a school is open. */
export function SignOutButton() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const signingOut = useMutation({ mutationFn: () => signOut(cache), onSuccess: () => navigate({ to: "/login" }) });
  return (
    <>
      {signingOut.isError ? <FormAlert problem={signingOut.error} /> : null}
      <Button
        kind="quiet"
        className="self-start px-0"
        isPending={signingOut.isPending}
        onPress={() => signingOut.mutate()}
      >
        {t("account.signOut")}
      </Button>
    </>
  );
}
