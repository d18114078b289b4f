// Unsaved edits of the topic form, stored in this browser.
import { useEffect, useState } from "react";

import { getDraft, saveDraft } from "../../forms/drafts";
import {
  parseDraft,
  type TopicEdits,
  withEdit,
  type TopicForm,
  hasNoEdits,
  applyEdits,
  remainingEdits,
} from "./topicForm";

export interface TopicEditing {
  form: TopicForm;
  edits: TopicEdits;
  isDirty: boolean;
  /** Whether edits of an earlier visit were restored. */
  isRestored: boolean;
  change: (change: TopicEdits) => void;
  /** Discards the edits. */
  discard: () => void;
  /** Deletes the stored draft after saving; the form keeps its values. */
  markSaved: () => void;
}

/** Combines stored edits with the data of the service; edits are stored as a draft under `key`. */
export function useTopicEdits(base: TopicForm, person: string, key: string): TopicEditing {
  const [typed, setTyped] = useState<TopicEdits>(() => parseDraft(getDraft(person, key)));
  const [isRestored, setRestored] = useState(() => !hasNoEdits(remainingEdits(base, typed)));
  const edits = remainingEdits(base, typed);
  const text = hasNoEdits(edits) ? "" : JSON.stringify(edits);
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
