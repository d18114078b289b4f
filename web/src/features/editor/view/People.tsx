import { ToggleButton } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { cursorsOf } from "../collaboration/cursors";
import { type EditorController, initialsOf } from "./controller";
import { useController, useEditorValue } from "./useController";

const select = (controller: EditorController) => {
  const people = new Map<string, { clientId: string; userId: string; name: string }>();
  for (const { clientId, userId, name } of cursorsOf(controller.state)) people.set(userId, { clientId, userId, name });
  return {
    people: [...people.values()].toSorted((one, other) => one.name.localeCompare(other.name)),
    following: controller.following ?? null,
  };
};

/** Who else is in the document. A press follows the cursor of a person. */
export function People() {
  const { t } = useTranslation();
  const controller = useController();
  const { people, following } = useEditorValue(select);
  if (people.length === 0) return null;
  return (
    <ul aria-label={t("editor.people.label")} className="people hide-narrow">
      {people.slice(0, 6).map(({ clientId, userId, name }) => (
        <li key={userId}>
          <ToggleButton
            aria-label={
              following === clientId ? t("editor.people.stop", { name }) : t("editor.people.follow", { name })
            }
            isSelected={following === clientId}
            onChange={(isOn) => controller.follow(isOn ? clientId : undefined)}
            className={`avatar person-${controller.colorOf(userId)}`}
            data-initials={initialsOf(name)}
          />
        </li>
      ))}
      {people.length > 6 ? <li className="text-soft text-sm">+{people.length - 6}</li> : null}
    </ul>
  );
}
