import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useEffect, useMemo, useReducer, useState } from "react";
import { useTranslation } from "react-i18next";

import { draft, keepDraft } from "../lib/drafts";
import type { Group as Known } from "../lib/groups";
import { useSay } from "../lib/problems";
import { invalidate } from "../lib/queryKeys";
import { Button } from "../ui/Button";
import { Leave } from "../ui/Leave";
import { note } from "../ui/notes";
import { Sheet } from "../ui/Sheet";
import { carryOut, type CourseDetail, create, type Failure, isFinished, placesOf, type Student } from "./class";
import { Column } from "./Column";
import { type Details, NewGroups, NO_TOPIC } from "./Details";
import { broken, changes, free, isChanged, made, marked, moved, nextNumber, type Place, type Plan, relabelled, renamed, stepped, toDivide, type Wish, without, withNew, withOne } from "./divide";
import { Summary } from "./Summary";
import { Group } from "./Group";
import { Options, type Settings } from "./Options";
import { useSentence } from "./Wishes";

interface Props {
  of: CourseDetail;
  students: readonly Student[];
  groups: readonly Known[];
  topicId: string | undefined;
  /** Whose wishes are remembered in this browser. */
  person: string;
}

/** The cards of a class between its groups; nothing is saved before the button at the foot. */
export function Divider({ of, students, groups, topicId, person }: Props) {
  const { t } = useTranslation();
  const say = useSay();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const known = useMemo(() => placesOf(groups, of.id), [groups, of.id]);
  const [history, step] = useReducer(stepped, known, (places) => ({ past: [], now: { places: places.map((place) => ({ ...place, members: place.was })), absent: [] }, future: [] }));
  useEffect(() => step({ do: "known", known }), [known]);
  const plan = history.now;
  const [said, setSaid] = useState("");
  const [failures, setFailures] = useState<readonly Failure[]>([]);
  const [unlocked, setUnlocked] = useState<readonly string[]>([]);
  const memory = `divide:${of.classId}`;
  const [settings, setSettings] = useState<Settings>(() => ({ size: { by: "size", size: 3, count: 8, isEven: true }, isLeftOut: true, wishes: remembered(draft(person, memory)) }));
  const [details, setDetails] = useState<Details>({ scheme: t("divide.schemeDefault"), starts: "now", start: null, topicId: topicId ?? NO_TOPIC });
  const sentence = useSentence(students);
  const nameOf = (student: string) => students.find((one) => one.id === student)?.name ?? "–";

  const ids = students.map((student) => student.id);
  const first = nextNumber(groups.map((group) => group.groupNumber));
  const title = (place: { name: string; number: number }) => (place.name.includes(String(place.number)) ? place.name : `${place.number} ${place.name}`);
  const go = (next: Plan, words: string) => {
    step({ do: "plan", plan: next });
    setSaid(words);
    setFailures([]);
  };
  const onMove = (who: string[], from: string | null, to: string | null) => {
    const next = moved(plan, who, from, to);
    const place = next.places.find((one) => one.key === to);
    const words = who.length === 1 ? nameOf(who[0] ?? "") : t("divide.students", { count: who.length });
    const left = plan.places.find((one) => one.key === from);
    if (place) go(next, t("divide.moved", { who: words, place: title(place), count: place.members.length }));
    else go(next, t("divide.left", { who: words, place: left ? title(left) : "" }));
  };
  const back = (way: "undo" | "redo") => {
    if (history[way === "undo" ? "past" : "future"].length === 0) return;
    step({ do: way });
    // The card that had the focus may have gone where it came from.
    setTimeout(() => document.activeElement === document.body && document.querySelector<HTMLElement>("[data-summary]")?.focus(), 100);
    setSaid(way === "undo" ? t("divide.undone") : t("divide.redone"));
  };
  useUndoKeys(back);

  const taken = new Map(groups.map((group) => [group.groupNumber, group]));
  const clash = (key: string): string | undefined => {
    const place = plan.places.find((one) => one.key === key);
    if (!place || place.groupId !== null) return undefined;
    if (taken.has(place.number)) return t("divide.taken", { number: place.number });
    return made(plan).some((other) => other.key !== key && other.number === place.number) ? t("divide.twice", { number: place.number }) : undefined;
  };
  const [isTried, setTried] = useState(false);
  const noStart = details.starts === "later" && details.start === null ? t("divide.noStart") : undefined;
  const goTo = (selector: string) => requestAnimationFrame(() => document.querySelector<HTMLElement>(selector)?.focus());
  const save = useMutation({
    mutationFn: async () => {
      const start = details.starts === "later" ? details.start : null;
      const count = made(plan).length;
      if (count > 0) {
        await create(of, plan, start, details.topicId === NO_TOPIC ? null : details.topicId);
        step({ do: "created" });
      }
      const wanted = changes(plan);
      return { count, changed: wanted.length, failed: await carryOut(wanted) };
    },
    onSuccess: ({ count, changed, failed }) => {
      setFailures(failed);
      if (failed.length > 0) return;
      note([count > 0 ? t("divide.created", { count }) : "", changed > 0 ? t("divide.saved", { count: changed }) : ""].filter(Boolean).join(" "));
      void navigate({ to: "/courses/$courseId", params: { courseId: of.id }, search: { tab: "groups" }, ignoreBlocker: true });
    },
    onSettled: () => invalidate(cache, "groups", "courses", "assignments", "board"),
  });
  const onSave = () => {
    setTried(true);
    const wrong = made(plan).find((place) => clash(place.key) !== undefined);
    if (wrong) goTo(`[data-group="${wrong.key}"]`);
    else if (noStart !== undefined) goTo("[data-new-groups] [role=spinbutton]");
    else save.mutate();
  };

  const isLocked = (key: string) => {
    const group = groups.find((one) => one.id === key);
    return group !== undefined && isFinished(group) && !unlocked.includes(key);
  };
  const goals = [{ key: null, name: t("divide.free") }, ...plan.places.filter((place) => !isLocked(place.key)).map((place) => ({ key: place.key, name: t("divide.goal", { name: title(place), count: place.members.length }) }))];
  const cards = (members: readonly string[]) => students.filter((student) => members.includes(student.id));
  const alone = free(plan, ids);
  // Where somebody is known to be, if he is no longer there on the screen.
  const origin = (key: string | null) => (student: string) => {
    const here = plan.places.find((place) => place.key === key);
    const left = here?.was.includes(student) ? undefined : plan.places.find((place) => place.was.includes(student) && !place.members.includes(student));
    return left && title(left);
  };
  const shared = { absent: plan.absent, goals, onMove };
  const onMark = (who: string[], isAbsent: boolean) =>
    go(marked(plan, who, isAbsent), t(isAbsent ? "divide.markedAbsent" : "divide.markedHere", { who: who.map(nameOf).join(", "), count: who.length }));
  const card = (place: Place) => (
    <li key={place.key}>
      <Group
        place={place}
        name={title(place)}
        count={place.members.length}
        isHidden={groups.find((group) => group.id === place.groupId)?.isHidden === true}
        isLocked={isLocked(place.key)}
        onUnlock={() => setUnlocked([...unlocked, place.key])}
        problem={clash(place.key)}
        hints={broken(place, settings.wishes).map((wish) => t("divide.broken", { wish: sentence(wish) }))}
        onRelabel={(number, name) => go(relabelled(plan, place.key, number, name), t("divide.renamed", { name }))}
        onRemove={() => {
          go(without(plan, place.key), t("divide.removed", { name: title(place) }));
          goTo("[data-add]");
        }}
      >
        <Column {...shared} origin={origin(place.key)} place={place.key} name={title(place)} students={cards(place.members)} isLocked={isLocked(place.key)} none={t("divide.empty")} onMark={place.groupId === null ? onMark : undefined} />
      </Group>
    </li>
  );
  return (
    <>
      <div className="grid gap-4 lg:grid-cols-[1fr_20rem]">
        <Sheet>
          <section aria-label={t("divide.options")}>
            <Options
              of={of}
              settings={settings}
              onChange={(next) => {
                setSettings(next);
                keepDraft(person, memory, next.wishes.length === 0 ? "" : JSON.stringify(next.wishes));
              }}
              students={students}
              who={toDivide(plan, ids, settings.isLeftOut)}
              placed={new Set(plan.places.filter((place) => place.groupId !== null).flatMap((place) => place.members)).size}
              onGroups={(laid, words) => go(withNew(plan, laid, details.scheme, first), words)}
            />
          </section>
        </Sheet>
        <Sheet>
          <section aria-label={t("divide.details")} data-new-groups>
            <NewGroups
              of={of}
              details={details}
              problem={isTried ? noStart : undefined}
              onChange={(next) => {
                if (next.scheme !== details.scheme) step({ do: "plan", plan: renamed(plan, next.scheme) });
                setDetails(next);
              }}
            />
          </section>
        </Sheet>
      </div>
      <Summary
        plan={plan}
        said={said}
        failures={failures.map(({ change, problem }) => t("divide.failed", { who: nameOf(change.student), place: placeName(plan, change.to ?? change.from, title), problem: say(problem) }))}
        tried={save.data?.changed ?? 0}
        problem={save.error}
        canUndo={history.past.length > 0}
        canRedo={history.future.length > 0}
        onBack={back}
        isPending={save.isPending}
        onSave={onSave}
      />
      <div className="grid items-start gap-3 md:grid-cols-[15rem_1fr]">
        <div className="md:sticky md:top-32">
          <Group place={null} name={t("divide.free")} count={alone.length} isHidden={false} isLocked={false} problem={undefined} hints={[]} onUnlock={noop} onRelabel={noop} onRemove={noop}>
            <Column {...shared} origin={origin(null)} place={null} name={t("divide.free")} students={cards(alone)} isLocked={false} none={t("divide.allIn")} onMark={onMark} />
          </Group>
        </div>
        <div className="flex flex-col gap-4">
          <section aria-labelledby="new-groups" className="flex flex-col gap-2">
            <h2 id="new-groups">{t("divide.newGroups")}</h2>
            <ul className={GRID}>
              {made(plan).map(card)}
              <li>
                <Button className="h-full min-h-16 w-full border-dashed" data-add onPress={() => go(withOne(plan, details.scheme, first), t("divide.added"))}>
                  <Plus aria-hidden="true" className="size-4" />
                  {t("divide.add")}
                </Button>
              </li>
            </ul>
          </section>
          {known.length === 0 ? null : (
            <section aria-labelledby="old-groups" className="flex flex-col gap-2">
              <h2 id="old-groups">{t("divide.oldGroups", { count: known.length })}</h2>
              <ul className={GRID}>{plan.places.filter((place) => place.groupId !== null).map(card)}</ul>
            </section>
          )}
        </div>
      </div>
      <Leave isDirty={isChanged(plan)} text={t("divide.leave.text")} />
    </>
  );
}

const noop = () => {};
const GRID = "grid gap-3 sm:grid-cols-2 lg:grid-cols-3";

const placeName = (plan: Plan, groupId: string | null, title: (place: { name: string; number: number }) => string): string => {
  const place = plan.places.find((one) => one.groupId === groupId);
  return place ? title(place) : "–";
};

/** The wishes this browser remembers, if they are any. */
function remembered(text: string): Wish[] {
  try {
    const found: unknown = JSON.parse(text === "" ? "[]" : text);
    return Array.isArray(found) ? found.filter((wish): wish is Wish => (wish?.kind === "apart" || wish?.kind === "together") && Array.isArray(wish?.students)) : [];
  } catch {
    return [];
  }
}

/** Ctrl+Z and Ctrl+Shift+Z (or Ctrl+Y), but not where somebody types: there they are the field's own. */
function useUndoKeys(back: (way: "undo" | "redo") => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      if ((event.target as HTMLElement).closest("input, textarea, [role=dialog], [role=alertdialog], [role=menu]")) return;
      const key = event.key.toLowerCase();
      if (key !== "z" && key !== "y") return;
      event.preventDefault();
      back(key === "y" || event.shiftKey ? "redo" : "undo");
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [back]);
}
