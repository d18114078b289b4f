import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { FormAlert } from "../../auth/FormAlert";
import { activeSchoolQuery, type Me, returnToSchool } from "../../auth/session";
import { Button } from "../Button";
import { Dialog } from "../Dialog";

/** Covers a page whose school is not active any more, because another tab selected a different school. */
export function SchoolChangedDialog({ person, shown }: { person: Me; shown: { id: string; name: string } }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const active = useQuery(activeSchoolQuery);
  const returning = useMutation({ mutationFn: () => returnToSchool(cache, person, shown.id) });
  const other = active.data?.id === shown.id ? undefined : active.data?.name;
  return (
    <Dialog title={t("otherSchool.title", { shown: shown.name })} role="alertdialog" isOpen>
      {() => (
        <>
          <p>{other === undefined ? t("otherSchool.none") : t("otherSchool.text", { other })}</p>
          <p>{t("otherSchool.safe")}</p>
          {returning.isError ? <FormAlert problem={returning.error} /> : null}
          <p className="flex flex-wrap justify-end gap-2">
            <Button onPress={() => location.assign("/")}>
              {other === undefined ? t("otherSchool.reload") : t("otherSchool.go", { other })}
            </Button>
            <Button kind="main" isPending={returning.isPending} onPress={() => returning.mutate()}>
              {t("otherSchool.back", { shown: shown.name })}
            </Button>
          </p>
        </>
      )}
    </Dialog>
  );
}
