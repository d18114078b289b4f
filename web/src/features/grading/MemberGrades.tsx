import { useTranslation } from "react-i18next";

import { TextArea } from "../../forms/TextArea";
import { Disclosure } from "../../components/Disclosure";
import { EMPTY, type GradeForm, isBlank, type MemberGradeForm } from "./gradeForm";
import { GradeFields, type GradingScheme } from "./GradeFields";

interface Props extends GradingScheme {
  /** Members of the group at the time of the submission. */
  memberIds: readonly string[];
  nameOf: (userId: string) => string | undefined;
  members: GradeForm["members"];
  onChange: (members: GradeForm["members"]) => void;
}

/** Individual grades and texts for members that differ from the group; each is visible to that member only. */
export function MemberGrades({ memberIds, nameOf, members, onChange, ...scheme }: Props) {
  const { t } = useTranslation();
  const change = (userId: string, part: Partial<MemberGradeForm>) =>
    onChange({ ...members, [userId]: { ...(members[userId] ?? EMPTY), ...part } });
  const count = Object.values(members).filter((own) => !isBlank(own)).length;
  return (
    <Disclosure name={t("work.members")} count={count || undefined}>
      <p className="text-soft text-sm">{t("work.membersHint")}</p>
      <ul className="flex flex-col gap-4">
        {memberIds.map((userId) => {
          const name = nameOf(userId) ?? t("work.someone");
          const own = members[userId] ?? EMPTY;
          return (
            <li key={userId}>
              <fieldset className="flex flex-col gap-2">
                <legend className="font-medium">{name}</legend>
                <GradeFields {...scheme} form={own} onChange={(part) => change(userId, part)} />
                <TextArea
                  label={t("work.wordsFor", { name })}
                  rows={2}
                  maxLength={10_000}
                  value={own.feedback}
                  onChange={(feedback) => change(userId, { feedback })}
                />
              </fieldset>
            </li>
          );
        })}
      </ul>
    </Disclosure>
  );
}
