// Grading one attempt: what is typed is kept in this browser at once and with the service two seconds later, as a draft. A
// grade that the group sees already is never changed by typing, only by returning it again.
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useEffectEvent, useRef, useState } from "react";

import { client, Problem, type Schemas } from "../../api/client";
import { getDraft, saveDraft } from "../../forms/drafts";
import { invalidate } from "../../api/queryKeys";
import { currentVersion, type FieldConflict, mergeForm, type Versioned, withVersion } from "../../api/versions";
import { initialForm, gradeBody, type GradeForm, formOf, isSameForm, type StoredGradeForm } from "./gradeForm";
import type { Submission } from "./work";

const SAVE_DELAY_MS = 2_000;

export interface Grading {
  form: GradeForm;
  change: (part: Partial<GradeForm>) => void;
  isPublished: boolean;
  /** Whether what stands here is not with the service. */
  isUnsaved: boolean;
  isSaving: boolean;
  /** Whether it is on its way to the group, or back from it; saving a draft stands in nobody's way. */
  isReturning: boolean;
  savedAt: string | undefined;
  problem: unknown;
  /** What was changed elsewhere while something else was typed here. Nothing is sent by itself until the reader sends it. */
  conflicts: readonly FieldConflict<GradeForm>[] | undefined;
  /** The grade as the service has it, as a form. */
  saved: GradeForm;
  /** Leaves what was typed for what is there. */
  discardOwn: () => void;
  /** Sends what stands here; with true the group sees it, with false it does not any more. */
  send: (publish?: boolean) => Promise<boolean>;
}

function readStoredForm(person: string, of: string): StoredGradeForm | null {
  try {
    return JSON.parse(getDraft(person, of)) as StoredGradeForm;
  } catch {
    return null;
  }
}

const isSameGrade = (one: Schemas["Grade"] | null, other: Schemas["Grade"] | null): boolean => one?.status === other?.status && isSameForm(formOf(one), formOf(other));

/** `of` names the work in this browser, for whichever attempt: what was written outlives a taking back. */
export function useGrading(submission: Submission, person: string, of: string, most: number | null): Grading {
  const cache = useQueryClient();
  const id = submission.id;
  const [grade, setGrade] = useState(submission.grade);
  const [form, setForm] = useState(() => initialForm(id, submission.grade, readStoredForm(person, of)));
  const [isSaving, setSaving] = useState(false);
  const [isReturning, setReturning] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const [differences, setDifferences] = useState<readonly FieldConflict<GradeForm>[]>();
  // The version of the grade that is shown; unknown until it was asked for.
  const etag = useRef<string>(undefined);
  const now = useRef({ form, grade });
  useEffect(() => {
    now.current = { form, grade };
  }, [form, grade]);
  const saveQueue = useRef(Promise.resolve(true));
  const isPublished = grade?.status === "PUBLISHED";
  const isUnsaved = !isSameForm(form, formOf(grade));

  /** Goes on with another grade than the form began with; words that are not saved yet stay. Returns whether they contradict it. */
  const mergeNewer = useCallback((found: Schemas["Grade"] | null, isShown = false): boolean => {
    const { form: here, grade: before } = now.current;
    const merged = mergeForm(formOf(before), here, formOf(found));
    const isContradicted = merged.differences.some((difference) => difference.isTyped);
    now.current = { form: merged.form, grade: found };
    setGrade(found);
    setForm(merged.form);
    if (isContradicted || isShown) setDifferences(merged.differences);
    return isContradicted || isShown;
  }, []);

  // What a colleague, or this teacher in another window, wrote meanwhile.
  const receiveNewer = submission.grade;
  useEffect(() => {
    const { grade: before } = now.current;
    if (receiveNewer === null || (before !== null && receiveNewer.gradedAt <= before.gradedAt)) return;
    etag.current = undefined;
    mergeNewer(receiveNewer);
  }, [receiveNewer, mergeNewer]);

  const take = useCallback(
    (answer: Versioned<Submission>, sent: GradeForm) => {
      etag.current = answer.etag;
      setDifferences(undefined);
      setGrade(answer.grade);
      const isLater = !isSameForm(now.current.form, sent);
      if (answer.grade?.status === "PUBLISHED" && !isLater) saveDraft(person, of, "");
      else saveDraft(person, of, JSON.stringify({ submissionId: id, isUnsaved: isLater, form: now.current.form } satisfies StoredGradeForm));
    },
    [id, of, person],
  );

  const send = useCallback(
    (publish?: boolean): Promise<boolean> => {
      // One after the other: what was typed last is what stays.
      saveQueue.current = saveQueue.current.then(async () => {
        const sent = now.current.form;
        const edit = gradeBody(sent, most);
        if (edit === undefined) return false;
        const body: Schemas["GradeEdit"] = publish === undefined ? edit : publish ? { ...edit, publish } : { publish };
        setSaving(true);
        setReturning(publish !== undefined);
        try {
          if (etag.current === undefined) {
            const known = await withVersion(client.GET("/feedback/submissions/{id}", { params: { path: { id } } }));
            etag.current = known.etag;
            if (!isSameGrade(known.grade, now.current.grade)) {
              mergeNewer(known.grade, publish !== undefined);
              return false;
            }
          }
          const answer = await withVersion(client.PUT("/feedback/submissions/{id}/grade", { params: { path: { id } }, body, headers: { "If-Match": etag.current ?? "*" } }));
          take(answer, publish === false ? formOf(answer.grade) : sent);
          setProblem(undefined);
          void invalidate(cache, "assignments");
          void invalidate(cache, "submissions");
          return true;
        } catch (refused) {
          const current = currentVersion<Submission>(refused);
          if (current === undefined) {
            setProblem(refused);
            return false;
          }
          etag.current = current.etag;
          setProblem(undefined);
          mergeNewer(current.grade, publish !== undefined);
          return false;
        } finally {
          setSaving(false);
          setReturning(false);
        }
      });
      return saveQueue.current;
    },
    [cache, id, mergeNewer, most, take],
  );

  const change = (part: Partial<GradeForm>) => {
    const next = { ...now.current.form, ...part };
    now.current.form = next;
    setForm(next);
    setProblem(undefined);
    saveDraft(person, of, JSON.stringify({ submissionId: id, isUnsaved: !isSameForm(next, formOf(now.current.grade)), form: next } satisfies StoredGradeForm));
  };

  // What the service refused waits for another word; what did not reach it goes there by itself.
  const isOffline = problem instanceof Problem && problem.status === 0;
  const isWaiting = isUnsaved && !isPublished && differences === undefined && (problem === undefined || isOffline);
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setInterval(() => void send(), isOffline ? SAVE_DELAY_MS * 5 : SAVE_DELAY_MS);
    return () => clearInterval(timer);
  }, [isOffline, isWaiting, send]);

  // Going on to the next group does not wait for the two seconds.
  const sendRest = useEffectEvent(() => isWaiting && void send());
  useEffect(() => () => void sendRest(), []);

  const saved = formOf(grade);
  const takeSaved = () => {
    setDifferences(undefined);
    change(saved);
  };
  return { form, change, isPublished, isUnsaved, isSaving, isReturning, savedAt: grade?.gradedAt, problem, conflicts: differences, saved, discardOwn: takeSaved, send };
}
