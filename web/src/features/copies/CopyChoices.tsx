// Choices that every kind of copy has.
import { useTranslation } from "react-i18next";

import { RadioGroup } from "../../forms/RadioGroup";
import type { CopyChoice } from "./copies";

type Groups = CopyChoice["groups"];
type Publication = CopyChoice["publication"];

/** Which groups the copy gets. */
export function GroupsChoice({
  offered,
  value,
  onChange,
}: {
  offered: readonly Groups[];
  value: Groups;
  onChange: (groups: Groups) => void;
}) {
  const { t } = useTranslation();
  return (
    <RadioGroup
      label={t("copies.groups")}
      value={value}
      onChange={onChange}
      options={offered.map((id) => ({ id, name: t(`copies.groupsOf.${id}`) }))}
    />
  );
}

/** Whether the copied topics are drafts. */
export function PublicationChoice({
  value,
  onChange,
}: {
  value: Publication;
  onChange: (publication: Publication) => void;
}) {
  const { t } = useTranslation();
  return (
    <RadioGroup
      label={t("copies.publication")}
      value={value}
      onChange={onChange}
      options={(["DRAFT", "SAME"] as const).map((id) => ({ id, name: t(`copies.publicationOf.${id}`) }))}
    />
  );
}
