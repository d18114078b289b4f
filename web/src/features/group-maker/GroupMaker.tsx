import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useEffect, useMemo, useReducer, useState } from "react";
import { useTranslation } from "react-i18next";

import { getDraft, saveDraft } from "../../forms/drafts";
import type { ListedGroup as Known } from "../groups/groups";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { UnsavedChangesGuard } from "../../forms/UnsavedChangesGuard";
import { toast } from "../../components/base/toast";
import { Card } from "../../components/Card";
import {
  applyChanges,
  type CourseDetail,
  createGroups,
  type FailedChange,
  isFinished,
  columnsOf,
  type Student,
} from "./courseGroups";
import { numberedName } from "../lesson/groupNames";
import { StudentColumn } from "./StudentColumn";
import { type NewGroupSettings, NewGroupFields, WITHOUT_TOPIC } from "./NewGroupFields";
import {
  brokenWishes,
  membershipChanges,
  ungroupedStudents,
  hasChanges,
  newGroups,
  withAbsence,
  withMoved,
  nextNumber,
  type PlanColumn,
  type Plan,
  withLabel,
  withScheme,
  applyStep,
  studentsToDivide,
  type Wish,
  withoutGroup,
  withNewGroups,
  withEmptyGroup,
} from "./plan";
import { ChangeSummary } from "./ChangeSummary";
import { PlannedGroup } from "./PlannedGroup";
import { DivisionOptions, type DivisionSettings } from "./DivisionOptions";
import { useWishSentence } from "./WishEditor";

interface Props {
  course: CourseDetail;
  students: readonly Student[];
  groups: readonly Known[];
  topicId: string | undefined;
  /** The user whose wishes are stored in this browser. */
  person: string;
}

/** Moves the students of a class between groups; nothing is saved before the button at the bottom is pressed. */
export function GroupMaker({ course, students, groups, topicId, person }: Props) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const known = useMemo(() => columnsOf(groups, course.id), [groups, course.id]);
  const [history, step] = useReducer(applyStep, known, (columns) => ({
    past: [],
    now: { columns: columns.map((column) => ({ ...column, members: column.savedMembers })), absent: [] },
    future: [],
  }));
  useEffect(() => step({ do: "known", known }), [known]);
  const plan = history.now;
  const [announcement, setAnnouncement] = useState("");
  const [failures, setFailures] = useState<readonly FailedChange[]>([]);
  const [unlocked, setUnlocked] = useState<readonly string[]>([]);
  const storageKey = `divide:${course.classId}`;
  const [settings, setSettings] = useState<DivisionSettings>(() => ({
    size: { by: "size", size: 3, count: 8, isEven: true },
    isLeftOut: true,
    wishes: parseWishes(getDraft(person, storageKey)),
  }));
  const [details, setDetails] = useState<NewGroupSettings>({
    scheme: t("divide.schemeDefault"),
    starts: "now",
    start: null,
    topicId: topicId ?? WITHOUT_TOPIC,
  });
  const sentence = useWishSentence(students);
  const nameOf = (student: string) => students.find((one) => one.id === student)?.name ?? "–";

  const ids = students.map((student) => student.id);
  const first = nextNumber(groups.map((group) => group.groupNumber));
  const title = (column: { name: string; number: number }) =>
    numberedName({ groupNumber: column.number, name: column.name });
  const applyPlan = (next: Plan, message: string) => {
    step({ do: "plan", plan: next });
    setAnnouncement(message);
    setFailures([]);
  };
  const onMove = (who: string[], from: string | null, to: string | null) => {
    const next = withMoved(plan, who, from, to);
    const column = next.columns.find((one) => one.key === to);
    const message = who.length === 1 ? nameOf(who[0] ?? "") : t("divide.students", { count: who.length });
    const left = plan.columns.find((one) => one.key === from);
    if (column)
      applyPlan(next, t("divide.moved", { who: message, place: title(column), count: column.members.length }));
    else applyPlan(next, t("divide.left", { who: message, place: left ? title(left) : "" }));
  };
  const stepHistory = (direction: "undo" | "redo") => {
    if (history[direction === "undo" ? "past" : "future"].length === 0) return;
    step({ do: direction });
    // The focused card may have moved back to its former column.
    setTimeout(
      () => document.activeElement === document.body && document.querySelector<HTMLElement>("[data-summary]")?.focus(),
      100,
    );
    setAnnouncement(direction === "undo" ? t("divide.undone") : t("divide.redone"));
  };
  useUndoKeys(stepHistory);

  const taken = new Map(groups.map((group) => [group.groupNumber, group]));
  const clash = (key: string): string | undefined => {
    const column = plan.columns.find((one) => one.key === key);
    if (!column || column.groupId !== null) return undefined;
    if (taken.has(column.number)) return t("divide.taken", { number: column.number });
    return newGroups(plan).some((other) => other.key !== key && other.number === column.number)
      ? t("divide.twice", { number: column.number })
      : undefined;
  };
  const [isTried, setTried] = useState(false);
  const isStartMissing = details.starts === "later" && details.start === null ? t("divide.noStart") : undefined;
  const focusElement = (selector: string) =>
    requestAnimationFrame(() => document.querySelector<HTMLElement>(selector)?.focus());
  const save = useMutation({
    mutationFn: async () => {
      const start = details.starts === "later" ? details.start : null;
      const count = newGroups(plan).length;
      if (count > 0) {
        await createGroups(course, plan, start, details.topicId === WITHOUT_TOPIC ? null : details.topicId);
        step({ do: "created" });
      }
      const wanted = membershipChanges(plan);
      return { count, changed: wanted.length, failed: await applyChanges(wanted) };
    },
    onSuccess: ({ count, changed, failed }) => {
      setFailures(failed);
      if (failed.length > 0) return;
      toast(
        [count > 0 ? t("divide.created", { count }) : "", changed > 0 ? t("divide.saved", { count: changed }) : ""]
          .filter(Boolean)
          .join(" "),
      );
      void navigate({
        to: "/courses/$courseId",
        params: { courseId: course.id },
        search: { tab: "groups" },
        ignoreBlocker: true,
      });
    },
    onSettled: () => invalidate(cache, "groups", "courses", "assignments", "board"),
  });
  const onSave = () => {
    setTried(true);
    const invalidGroup = newGroups(plan).find((column) => clash(column.key) !== undefined);
    if (invalidGroup) focusElement(`[data-group="${invalidGroup.key}"]`);
    else if (isStartMissing !== undefined) focusElement("[data-new-groups] [role=spinbutton]");
    else save.mutate();
  };

  const isLocked = (key: string) => {
    const group = groups.find((one) => one.id === key);
    return group !== undefined && isFinished(group) && !unlocked.includes(key);
  };
  const targets = [
    { key: null, name: t("divide.free") },
    ...plan.columns
      .filter((column) => !isLocked(column.key))
      .map((column) => ({
        key: column.key,
        name: t("divide.goal", { name: title(column), count: column.members.length }),
      })),
  ];
  const cards = (members: readonly string[]) => students.filter((student) => members.includes(student.id));
  const alone = ungroupedStudents(plan, ids);
  // The known group of a student who is no longer shown in it.
  const origin = (key: string | null) => (student: string) => {
    const here = plan.columns.find((column) => column.key === key);
    const left = here?.savedMembers.includes(student)
      ? undefined
      : plan.columns.find((column) => column.savedMembers.includes(student) && !column.members.includes(student));
    return left && title(left);
  };
  const shared = { absent: plan.absent, targets, onMove };
  const onMark = (who: string[], isAbsent: boolean) =>
    applyPlan(
      withAbsence(plan, who, isAbsent),
      t(isAbsent ? "divide.markedAbsent" : "divide.markedHere", { who: who.map(nameOf).join(", "), count: who.length }),
    );
  const card = (column: PlanColumn) => (
    <li key={column.key}>
      <PlannedGroup
        column={column}
        name={title(column)}
        count={column.members.length}
        isHidden={groups.find((group) => group.id === column.groupId)?.isHidden === true}
        isLocked={isLocked(column.key)}
        onUnlock={() => setUnlocked([...unlocked, column.key])}
        problem={clash(column.key)}
        hints={brokenWishes(column, settings.wishes).map((wish) => t("divide.broken", { wish: sentence(wish) }))}
        onRelabel={(number, name) =>
          applyPlan(withLabel(plan, column.key, number, name), t("divide.renamed", { name }))
        }
        onRemove={() => {
          applyPlan(withoutGroup(plan, column.key), t("divide.removed", { name: title(column) }));
          focusElement("[data-add]");
        }}
      >
        <StudentColumn
          {...shared}
          origin={origin(column.key)}
          column={column.key}
          name={title(column)}
          students={cards(column.members)}
          isLocked={isLocked(column.key)}
          none={t("divide.empty")}
          onMark={column.groupId === null ? onMark : undefined}
        />
      </PlannedGroup>
    </li>
  );
  return (
    <>
      <Card className="flex flex-col gap-3 p-3! sm:p-4!">
        <section aria-label={t("divide.options")}>
          <DivisionOptions
            course={course}
            settings={settings}
            onChange={(next) => {
              setSettings(next);
              saveDraft(person, storageKey, next.wishes.length === 0 ? "" : JSON.stringify(next.wishes));
            }}
            students={students}
            present={studentsToDivide(plan, ids, settings.isLeftOut)}
            groupedCount={
              new Set(plan.columns.filter((column) => column.groupId !== null).flatMap((column) => column.members)).size
            }
            onGroups={(laid, message) => applyPlan(withNewGroups(plan, laid, details.scheme, first), message)}
          />
        </section>
        <section aria-label={t("divide.details")} data-new-groups className="border-faint border-t pt-3">
          <NewGroupFields
            course={course}
            details={details}
            problem={isTried ? isStartMissing : undefined}
            onChange={(next) => {
              if (next.scheme !== details.scheme) step({ do: "plan", plan: withScheme(plan, next.scheme) });
              setDetails(next);
            }}
          />
        </section>
      </Card>
      <div className="grid items-start gap-4 md:grid-cols-[15rem_1fr]">
        <div className="md:sticky md:top-[calc(var(--header-height)+1rem)]">
          <PlannedGroup
            column={null}
            name={t("divide.free")}
            count={alone.length}
            isHidden={false}
            isLocked={false}
            problem={undefined}
            hints={[]}
            onUnlock={noop}
            onRelabel={noop}
            onRemove={noop}
          >
            <StudentColumn
              {...shared}
              origin={origin(null)}
              column={null}
              name={t("divide.free")}
              students={cards(alone)}
              isLocked={false}
              none={t("divide.allIn")}
              onMark={onMark}
            />
          </PlannedGroup>
        </div>
        <div className="flex flex-col gap-4">
          <section aria-labelledby="new-groups" className="flex flex-col gap-2">
            <h2 id="new-groups">{t("divide.newGroups")}</h2>
            <ul className={GRID}>
              {newGroups(plan).map(card)}
              <li>
                <Button
                  kind="quiet"
                  className="border-line! h-full min-h-16 w-full border-dashed"
                  data-add
                  onPress={() => applyPlan(withEmptyGroup(plan, details.scheme, first), t("divide.added"))}
                >
                  <Plus aria-hidden="true" className="size-4" />
                  {t("divide.add")}
                </Button>
              </li>
            </ul>
          </section>
          {known.length === 0 ? null : (
            <section aria-labelledby="old-groups" className="flex flex-col gap-2">
              <h2 id="old-groups">{t("divide.oldGroups", { count: known.length })}</h2>
              <ul className={GRID}>{plan.columns.filter((column) => column.groupId !== null).map(card)}</ul>
            </section>
          )}
        </div>
      </div>
      <ChangeSummary
        plan={plan}
        announcement={announcement}
        failures={failures.map(({ change, problem }) =>
          t("divide.failed", {
            who: nameOf(change.student),
            place: targetName(plan, change.to ?? change.from, title),
            problem: errorText(problem),
          }),
        )}
        attemptedCount={save.data?.changed ?? 0}
        problem={save.error}
        canUndo={history.past.length > 0}
        canRedo={history.future.length > 0}
        onStepHistory={stepHistory}
        isPending={save.isPending}
        onSave={onSave}
      />
      <UnsavedChangesGuard isDirty={hasChanges(plan)} text={t("divide.leave.text")} />
    </>
  );
}

const noop = () => {};
const GRID = "grid gap-3 sm:grid-cols-2 lg:grid-cols-3 2xl:grid-cols-4";

const targetName = (
  plan: Plan,
  groupId: string | null,
  title: (target: { name: string; number: number }) => string,
): string => {
  const target = plan.columns.find((one) => one.groupId === groupId);
  return target ? title(target) : "–";
};

/** Parses the wishes stored in this browser; ignores invalid ones. */
function parseWishes(text: string): Wish[] {
  try {
    const found: unknown = JSON.parse(text === "" ? "[]" : text);
    return Array.isArray(found)
      ? found.filter(
          (wish): wish is Wish =>
            (wish?.kind === "apart" || wish?.kind === "together") && Array.isArray(wish?.students),
        )
      : [];
  } catch {
    return [];
  }
}

/** Undo by Ctrl+Z and redo by Ctrl+Shift+Z (or Ctrl+Y), except in text fields, which have their own undo. */
function useUndoKeys(stepHistory: (way: "undo" | "redo") => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      if ((event.target as HTMLElement).closest("input, textarea, [role=dialog], [role=alertdialog], [role=menu]"))
        return;
      const key = event.key.toLowerCase();
      if (key !== "z" && key !== "y") return;
      event.preventDefault();
      stepHistory(key === "y" || event.shiftKey ? "redo" : "undo");
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [stepHistory]);
}
