// What is typed into the form of a topic, kept in this browser until it is saved.
import { useEffect, useState } from "react";

import { draft, keepDraft } from "../lib/drafts";
import { draftOf, type Edits, edited, type Form, isEmpty, merged, remaining } from "./form";

export interface Editing {
  form: Form;
  edits: Edits;
  isDirty: boolean;
  /** Whether something was found that was typed on an earlier visit. */
  isFound: boolean;
  change: (change: Edits) => void;
  /** Forgets what was typed. */
  forget: () => void;
  /** It is saved: the draft goes, what is shown stays. */
  sent: () => void;
}

/** The form over what the service says; what is typed is kept as a draft under `key`. */
export function useEdits(base: Form, person: string, key: string): Editing {
  const [typed, setTyped] = useState<Edits>(() => draftOf(draft(person, key)));
  const [isFound, setFound] = useState(() => !isEmpty(remaining(base, typed)));
  const edits = remaining(base, typed);
  const text = isEmpty(edits) ? "" : JSON.stringify(edits);
  useEffect(() => keepDraft(person, key, text), [person, key, text]);
  return {
    form: merged(base, edits),
    edits,
    isDirty: text !== "",
    isFound: isFound && text !== "",
    change: (change) => setTyped(edited(base, edits, change)),
    forget: () => {
      setTyped({});
      setFound(false);
      keepDraft(person, key, "");
    },
    sent: () => keepDraft(person, key, ""),
  };
}
