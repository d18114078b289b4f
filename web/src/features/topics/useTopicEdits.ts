// What is typed into the form of a topic, kept in this browser until it is saved.
import { useEffect, useState } from "react";

import { getDraft, saveDraft } from "../../forms/drafts";
import { parseDraft, type TopicEdits, withEdit, type TopicForm, isEmpty, applyEdits, remainingEdits } from "./topicForm";

export interface TopicEditing {
  form: TopicForm;
  edits: TopicEdits;
  isDirty: boolean;
  /** Whether something was found that was typed on an earlier visit. */
  isRestored: boolean;
  change: (change: TopicEdits) => void;
  /** Forgets what was typed. */
  discard: () => void;
  /** It is saved: the draft goes, what is shown stays. */
  markSaved: () => void;
}

/** The form over what the service says; what is typed is kept as a draft under `key`. */
export function useTopicEdits(base: TopicForm, person: string, key: string): TopicEditing {
  const [typed, setTyped] = useState<TopicEdits>(() => parseDraft(getDraft(person, key)));
  const [isRestored, setRestored] = useState(() => !isEmpty(remainingEdits(base, typed)));
  const edits = remainingEdits(base, typed);
  const text = isEmpty(edits) ? "" : JSON.stringify(edits);
  useEffect(() => saveDraft(person, key, text), [person, key, text]);
  return {
    form: applyEdits(base, edits),
    edits,
    isDirty: text !== "",
    isRestored: isRestored && text !== "",
    change: (change) => setTyped(withEdit(base, edits, change)),
    discard: () => {
      setTyped({});
      setRestored(false);
      saveDraft(person, key, "");
    },
    markSaved: () => saveDraft(person, key, ""),
  };
}
