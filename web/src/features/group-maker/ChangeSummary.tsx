import { Redo2, Undo2 } from "lucide-react";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/ErrorMessage";
import { membershipChanges, newGroups, type Plan } from "./plan";

interface Props {
  plan: Plan;
  /** The last action as text, for screen readers. */
  announcement: string;
  failures: readonly string[];
  /** Number of changes in the last save, including failed ones. */
  attemptedCount: number;
  problem: unknown;
  canUndo: boolean;
  canRedo: boolean;
  onStepHistory: (way: "undo" | "redo") => void;
  isPending: boolean;
  onSave: () => void;
}

/** Summary of the unsaved changes, undo and redo, and the button that saves. */
export function ChangeSummary({
  plan,
  announcement,
  failures,
  attemptedCount,
  problem,
  canUndo,
  canRedo,
  onStepHistory,
  isPending,
  onSave,
}: Props) {
  const { t } = useTranslation();
  const groups = newGroups(plan);
  const changed = membershipChanges(plan).length;
  const inNew = groups.reduce((sum, column) => sum + column.members.length, 0);
  const sentences = [
    groups.length === 0
      ? ""
      : t("divide.preview", {
          groups: t("divide.groupCount", { count: groups.length }),
          students: t("divide.students", { count: inNew }),
        }),
    changed === 0 ? "" : t("divide.changed", { count: changed }),
  ].filter(Boolean);
  return (
    <section
      aria-label={t("divide.foot")}
      data-summary
      tabIndex={-1}
      className="bg-sheet border-faint sticky bottom-0 z-5 -mx-4 -mb-10 flex flex-col gap-2 border-t px-4 py-3 outline-none lg:-mx-6 lg:px-6"
    >
      {failures.length === 0 ? null : (
        <div role="alert" className="text-bad">
          <p className="font-medium">
            {t("divide.notAll", { count: failures.length, all: t("divide.changes", { count: attemptedCount }) })}
          </p>
          <ul className="list-disc ps-5">
            {failures.map((failure) => (
              <li key={failure}>{failure}</li>
            ))}
          </ul>
        </div>
      )}
      {problem ? <ErrorMessage problem={problem} /> : null}
      <div className="flex items-center gap-2">
        <Button
          kind="quiet"
          className="px-0"
          isDisabled={!canUndo}
          onPress={() => onStepHistory("undo")}
          aria-label={t("divide.undo")}
        >
          <Undo2 aria-hidden="true" className="size-5" />
        </Button>
        <Button
          kind="quiet"
          className="px-0"
          isDisabled={!canRedo}
          onPress={() => onStepHistory("redo")}
          aria-label={t("divide.redo")}
        >
          <Redo2 aria-hidden="true" className="size-5" />
        </Button>
        <output className="text-soft min-w-0 grow text-sm max-sm:sr-only">{announcement}</output>
        <span className="font-medium max-sm:grow">
          {sentences.length === 0 ? (
            <span className="text-soft font-normal">{t("divide.nothing")}</span>
          ) : (
            sentences.join(" · ")
          )}
        </span>
        <Button
          kind="main"
          className="ms-auto"
          isDisabled={sentences.length === 0}
          isPending={isPending}
          onPress={onSave}
        >
          {groups.length > 0 ? t("divide.createCount", { count: groups.length }) : t("app.save")}
        </Button>
      </div>
    </section>
  );
}
