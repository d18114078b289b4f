// Grading one attempt: what is typed is kept in this browser at once and with the service two seconds later, as a draft. A
// grade that the group sees already is never changed by typing, only by returning it again.
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useEffectEvent, useRef, useState } from "react";

import { client, data, Problem, type Schemas } from "../api/client";
import { draft, keepDraft } from "../lib/drafts";
import { invalidate } from "../lib/queryKeys";
import { begin, editOf, type Form, formOf, isSame, type Kept } from "./form";
import type { Submission } from "./work";

const PAUSE = 2_000;

export interface Grading {
  form: Form;
  change: (part: Partial<Form>) => void;
  isPublished: boolean;
  /** Whether what stands here is not with the service. */
  isUnsaved: boolean;
  isSaving: boolean;
  /** Whether it is on its way to the group, or back from it; saving a draft stands in nobody's way. */
  isReturning: boolean;
  savedAt: string | undefined;
  problem: unknown;
  /** Sends what stands here; with true the group sees it, with false it does not any more. */
  send: (publish?: boolean) => Promise<boolean>;
}

function readKept(person: string, of: string): Kept | null {
  try {
    return JSON.parse(draft(person, of)) as Kept;
  } catch {
    return null;
  }
}

/** `of` names the work in this browser, for whichever attempt: what was written outlives a taking back. */
export function useGrading(submission: Submission, person: string, of: string, most: number | null): Grading {
  const cache = useQueryClient();
  const id = submission.id;
  const [grade, setGrade] = useState(submission.grade);
  const [form, setForm] = useState(() => begin(id, submission.grade, readKept(person, of)));
  const [isSaving, setSaving] = useState(false);
  const [isReturning, setReturning] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const now = useRef({ form, grade });
  useEffect(() => {
    now.current = { form, grade };
  }, [form, grade]);
  const line = useRef(Promise.resolve(true));
  const isPublished = grade?.status === "PUBLISHED";
  const isUnsaved = !isSame(form, formOf(grade));

  // What a colleague, or this teacher in another window, wrote meanwhile; words that are not saved yet stay.
  const heard = submission.grade;
  useEffect(() => {
    const { form: here, grade: before } = now.current;
    if (heard === null || (before !== null && heard.gradedAt <= before.gradedAt)) return;
    setGrade(heard);
    if (isSame(here, formOf(before))) setForm(formOf(heard));
  }, [heard]);

  const take = useCallback(
    (answer: Submission, sent: Form) => {
      setGrade(answer.grade);
      const isLater = !isSame(now.current.form, sent);
      if (answer.grade?.status === "PUBLISHED" && !isLater) keepDraft(person, of, "");
      else keepDraft(person, of, JSON.stringify({ submissionId: id, isUnsaved: isLater, form: now.current.form } satisfies Kept));
    },
    [id, of, person],
  );

  const send = useCallback(
    (publish?: boolean): Promise<boolean> => {
      // One after the other: what was typed last is what stays.
      line.current = line.current.then(async () => {
        const sent = now.current.form;
        const edit = editOf(sent, most);
        if (edit === undefined) return false;
        const body: Schemas["GradeEdit"] = publish === undefined ? edit : publish ? { ...edit, publish } : { publish };
        setSaving(true);
        setReturning(publish !== undefined);
        try {
          const answer = await data(client.PUT("/feedback/submissions/{id}/grade", { params: { path: { id } }, body }));
          take(answer, publish === false ? formOf(answer.grade) : sent);
          setProblem(undefined);
          void invalidate(cache, "assignments");
          void invalidate(cache, "submissions");
          return true;
        } catch (refused) {
          setProblem(refused);
          return false;
        } finally {
          setSaving(false);
          setReturning(false);
        }
      });
      return line.current;
    },
    [cache, id, most, take],
  );

  const change = (part: Partial<Form>) => {
    const next = { ...now.current.form, ...part };
    now.current.form = next;
    setForm(next);
    setProblem(undefined);
    keepDraft(person, of, JSON.stringify({ submissionId: id, isUnsaved: !isSame(next, formOf(now.current.grade)), form: next } satisfies Kept));
  };

  // What the service refused waits for another word; what did not reach it goes there by itself.
  const isOffline = problem instanceof Problem && problem.status === 0;
  const isWaiting = isUnsaved && !isPublished && (problem === undefined || isOffline);
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setInterval(() => void send(), isOffline ? PAUSE * 5 : PAUSE);
    return () => clearInterval(timer);
  }, [isOffline, isWaiting, send]);

  // Going on to the next group does not wait for the two seconds.
  const sendRest = useEffectEvent(() => isWaiting && void send());
  useEffect(() => () => void sendRest(), []);

  return { form, change, isPublished, isUnsaved, isSaving, isReturning, savedAt: grade?.gradedAt, problem, send };
}
