/* oxlint-disable jsx-a11y/no-noninteractive-element-to-interactive-role, jsx-a11y/prefer-tag-over-role, jsx-a11y/click-events-have-key-events --
   a list box whose active option is named by the text field, which keeps the focus and handles the keys */
import { useEffect, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { Avatar } from "../../../components/base/Avatar";
import { TextArea } from "../../../forms/TextArea";
import { matches, type MentionedPerson, queryAt } from "../mentions";

/** The maximum number of people in the list. */
const SHOWN_MAX = 6;

interface Props {
  label: string;
  value: string;
  maxLength: number;
  people: readonly MentionedPerson[];
  colorOf: (id: string) => number;
  onChange: (text: string) => void;
  onChoose: (person: MentionedPerson) => void;
}

/** A text in which `@` opens a list of people. */
export function MentionArea({ label, value, maxLength, people, colorOf, onChange, onChoose }: Props) {
  const { t } = useTranslation();
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const [caret, setCaret] = useState<number>();
  const [active, setActive] = useState(0);
  const search = caret === undefined ? undefined : queryAt(value, caret);
  const found = search === undefined ? [] : matches(people, search.query).slice(0, SHOWN_MAX);
  const isOpen = found.length > 0;
  const choose = (person: MentionedPerson) => {
    if (search === undefined || caret === undefined) return;
    const inserted = `@${person.name} `;
    onChoose(person);
    onChange(value.slice(0, search.at) + inserted + value.slice(caret).replace(/^ /, ""));
    setCaret(undefined);
    const end = search.at + inserted.length;
    requestAnimationFrame(() => {
      area.current?.focus();
      area.current?.setSelectionRange(end, end);
    });
  };
  const move = (by: number) => setActive((before) => (before + by + found.length) % found.length);
  const current = Math.min(active, found.length - 1);
  useEffect(() => {
    // On phones the list can be below the visible part of the panel.
    const option = isOpen ? document.getElementById(`${id}-${current}`) : null;
    option?.parentElement?.scrollIntoView({ block: "nearest" });
    option?.scrollIntoView({ block: "nearest" });
  }, [id, isOpen, current]);
  const readCaret = () => setCaret(area.current?.selectionStart);
  return (
    <div
      role="presentation"
      className="flex flex-col gap-1"
      onKeyDownCapture={(event) => {
        if (!isOpen || event.nativeEvent.isComposing) return;
        if (event.key === "ArrowDown") move(1);
        else if (event.key === "ArrowUp") move(-1);
        else if (event.key === "Escape") setCaret(undefined);
        else if ((event.key === "Enter" || event.key === "Tab") && !event.ctrlKey && !event.metaKey && !event.shiftKey)
          choose(found[current]!);
        else return;
        // The form would close or send.
        event.preventDefault();
        event.stopPropagation();
      }}
      onKeyUp={(event) => {
        if (["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) readCaret();
      }}
      onBlur={() => setCaret(undefined)}
    >
      <TextArea
        autoFocus
        label={label}
        hint={people.length === 0 ? undefined : t("editor.comments.mentionHint")}
        rows={3}
        maxLength={maxLength}
        value={value}
        inputRef={area}
        list={isOpen ? { id, active: `${id}-${current}` } : undefined}
        onChange={(text) => {
          onChange(text);
          setActive(0);
          readCaret();
        }}
      />
      <output className="sr-only">{isOpen ? t("editor.comments.mentionCount", { count: found.length }) : ""}</output>
      {isOpen ? (
        <ul id={id} role="listbox" aria-label={t("editor.comments.mention")} className="mention-list">
          {found.map((person, index) => (
            <li
              key={person.id}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === current}
              className={`flex min-h-11 cursor-pointer items-center gap-2 rounded-lg px-2 ${index === current ? "bg-hover outline-accent outline-2 -outline-offset-2" : ""}`}
              // The text keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(person)}
            >
              <Avatar name={person.name} color={colorOf(person.id)} />
              <span className="min-w-0 break-words">{person.name}</span>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
