import { useMutation } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { saveBlob } from "../../api/saveBlob";
import { SettingsSection } from "../../components/SettingsSection";
import { Button } from "../../components/Button";

/** Export of all data about the user as one archive. */
export function OwnDataExport() {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const fetching = useMutation({
    mutationFn: () => unwrap(client.POST("/users/me/export", { parseAs: "blob" })) as Promise<Blob>,
    onSuccess: (archive) => saveBlob(archive, "groupwork.zip"),
  });
  return (
    <SettingsSection title={t("me.data")} text={t("me.dataText")}>
      {fetching.isError ? (
        <p role="alert" className="text-bad">
          {errorText(fetching.error)}
        </p>
      ) : null}
      <Button className="self-start" isPending={fetching.isPending} onPress={() => fetching.mutate()}>
        {fetching.isPending ? t("me.dataGoing") : t("me.dataGo")}
      </Button>
    </SettingsSection>
  );
}
