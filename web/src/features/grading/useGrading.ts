// Grading of one submission: typed text is stored in this browser immediately and saved as a draft two seconds later. A
// returned grade is not changed by typing, only by returning it again.
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useEffectEvent, useRef, useState } from "react";

import { client, Problem, type Schemas } from "../../api/client";
import { getDraft, saveDraft } from "../../forms/drafts";
import { invalidate } from "../../api/queryKeys";
import { currentVersion, type FieldConflict, mergeForm, type Versioned, withVersion } from "../../api/versions";
import { initialForm, gradeBody, type GradeForm, gradeForm, isSameForm, type StoredGradeForm } from "./gradeForm";
import type { Submission } from "./work";

const SAVE_DELAY_MS = 2_000;

export interface Grading {
  form: GradeForm;
  change: (part: Partial<GradeForm>) => void;
  isPublished: boolean;
  /** Whether the form has changes that are not saved. */
  isUnsaved: boolean;
  isSaving: boolean;
  /** Whether the grade is being returned or withdrawn; saving a draft does not set this. */
  isReturning: boolean;
  savedAt: string | undefined;
  problem: unknown;
  /** Fields that were changed elsewhere while the user edited them. Nothing is saved automatically until the user saves. */
  conflicts: readonly FieldConflict<GradeForm>[] | undefined;
  /** The saved grade as form values. */
  saved: GradeForm;
  /** Discards the typed values in favour of the saved ones. */
  discardOwn: () => void;
  /** Saves the form; true publishes the grade, false withdraws it. */
  send: (publish?: boolean) => Promise<boolean>;
}

function readStoredForm(person: string, of: string): StoredGradeForm | null {
  try {
    return JSON.parse(getDraft(person, of)) as StoredGradeForm;
  } catch {
    return null;
  }
}

const isSameGrade = (one: Schemas["Grade"] | null, other: Schemas["Grade"] | null): boolean =>
  one?.status === other?.status && isSameForm(gradeForm(one), gradeForm(other));

/** `of` identifies the work in this browser across submissions: typed text survives taking a submission back. */
export function useGrading(submission: Submission, person: string, of: string, most: number | null): Grading {
  const cache = useQueryClient();
  const id = submission.id;
  const [grade, setGrade] = useState(submission.grade);
  const [form, setForm] = useState(() => initialForm(id, submission.grade, readStoredForm(person, of)));
  const [isSaving, setSaving] = useState(false);
  const [isReturning, setReturning] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const [differences, setDifferences] = useState<readonly FieldConflict<GradeForm>[]>();
  // Version of the displayed grade; undefined until it was fetched.
  const etag = useRef<string>(undefined);
  const now = useRef({ form, grade });
  useEffect(() => {
    now.current = { form, grade };
  }, [form, grade]);
  const saveQueue = useRef(Promise.resolve(true));
  const isPublished = grade?.status === "PUBLISHED";
  const isUnsaved = !isSameForm(form, gradeForm(grade));

  /** Continues with a newer grade than the form was based on; unsaved text stays. Returns whether there are conflicts. */
  const mergeNewer = useCallback((found: Schemas["Grade"] | null, isShown = false): boolean => {
    const { form: here, grade: before } = now.current;
    const merged = mergeForm(gradeForm(before), here, gradeForm(found));
    const isContradicted = merged.differences.some((difference) => difference.isTyped);
    now.current = { form: merged.form, grade: found };
    setGrade(found);
    setForm(merged.form);
    if (isContradicted || isShown) setDifferences(merged.differences);
    return isContradicted || isShown;
  }, []);

  // A concurrent change of another teacher, or of this teacher in another window.
  const receiveNewer = submission.grade;
  useEffect(() => {
    const { grade: before } = now.current;
    if (receiveNewer === null || (before !== null && receiveNewer.gradedAt <= before.gradedAt)) return;
    etag.current = undefined;
    mergeNewer(receiveNewer);
  }, [receiveNewer, mergeNewer]);

  // Files of the grade raise the version, too.
  const fileIds = (submission.grade?.files ?? []).map((file) => file.id).join();
  const knownFileIds = useRef(fileIds);
  useEffect(() => {
    if (knownFileIds.current === fileIds) return;
    knownFileIds.current = fileIds;
    etag.current = undefined;
  }, [fileIds]);

  const take = useCallback(
    (answer: Versioned<Submission>, sent: GradeForm) => {
      etag.current = answer.etag;
      setDifferences(undefined);
      setGrade(answer.grade);
      const isLater = !isSameForm(now.current.form, sent);
      if (answer.grade?.status === "PUBLISHED" && !isLater) saveDraft(person, of, "");
      else
        saveDraft(
          person,
          of,
          JSON.stringify({ submissionId: id, isUnsaved: isLater, form: now.current.form } satisfies StoredGradeForm),
        );
    },
    [id, of, person],
  );

  const send = useCallback(
    (publish?: boolean): Promise<boolean> => {
      // Sequential saves: the last typed value wins.
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
          const put = () =>
            withVersion(
              client.PUT("/feedback/submissions/{id}/grade", {
                params: { path: { id } },
                body,
                headers: { "If-Match": etag.current ?? "*" },
              }),
            );
          const answer = await put().catch((refused: unknown) => {
            // A file was added at the same moment.
            const current = currentVersion<Submission>(refused);
            if (current === undefined || !isSameGrade(current.grade, now.current.grade)) throw refused;
            etag.current = current.etag;
            return put();
          });
          take(answer, publish === false ? gradeForm(answer.grade) : sent);
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
    saveDraft(
      person,
      of,
      JSON.stringify({
        submissionId: id,
        isUnsaved: !isSameForm(next, gradeForm(now.current.grade)),
        form: next,
      } satisfies StoredGradeForm),
    );
  };

  // After a rejection, saving waits for the next edit; after a connection failure it is retried automatically.
  const isOffline = problem instanceof Problem && problem.status === 0;
  const isWaiting = isUnsaved && !isPublished && differences === undefined && (problem === undefined || isOffline);
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setInterval(() => void send(), isOffline ? SAVE_DELAY_MS * 5 : SAVE_DELAY_MS);
    return () => clearInterval(timer);
  }, [isOffline, isWaiting, send]);

  // Leaving for the next group saves without the delay.
  const sendRest = useEffectEvent(() => isWaiting && void send());
  useEffect(() => () => void sendRest(), []);

  const saved = gradeForm(grade);
  const takeSaved = () => {
    setDifferences(undefined);
    change(saved);
  };
  return {
    form,
    change,
    isPublished,
    isUnsaved,
    isSaving,
    isReturning,
    savedAt: grade?.gradedAt,
    problem,
    conflicts: differences,
    saved,
    discardOwn: takeSaved,
    send,
  };
}
