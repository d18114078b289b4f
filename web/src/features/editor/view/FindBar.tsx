import { ALargeSmall, ChevronDown, ChevronUp, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Button, ToggleButton } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { findStateOf, replaceAll, replaceCurrent, search, step } from "../editing/find";
import type { EditorController } from "./controller";
import { useController, useEditorValue } from "./useController";

const select = ({ state, isEditable }: EditorController) => {
  const { matches, current } = findStateOf(state);
  return { count: matches.length, current, isEditable };
};

const FIELD = "bg-sheet border-line h-9 min-w-0 rounded-lg border px-2.5 text-sm";

/** Find and replace in one line below the toolbar. */
export function FindBar({ initial, onClose }: { initial: string; onClose: () => void }) {
  const { t } = useTranslation();
  const controller = useController();
  const [query, setQuery] = useState(initial);
  const [replacement, setReplacement] = useState("");
  const [isCaseSensitive, setCaseSensitive] = useState(false);
  const [message, setMessage] = useState("");
  const { count, current, isEditable } = useEditorValue(select);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.select();
  }, []);
  useEffect(() => {
    controller.dispatch(search(controller.state, query, isCaseSensitive));
    controller.reveal();
  }, [controller, query, isCaseSensitive]);
  useEffect(() => () => controller.dispatch(search(controller.state, "", false)), [controller]);
  const go = (direction: -1 | 1) => {
    controller.dispatch(step(controller.state, direction));
    controller.reveal();
  };
  const close = () => {
    onClose();
    controller.focus();
  };
  const position =
    count === 0 ? t("editor.find.none") : t("editor.find.count", { current: Math.max(current, 0) + 1, count });
  return (
    <search aria-label={t("editor.find.label")}>
      <div
        role="presentation"
        className="find-bar"
        onKeyDown={(event) => {
          if (event.key === "Escape") close();
        }}
      >
        <input
          ref={field}
          // eslint-disable-next-line jsx-a11y/no-autofocus -- the user has just asked for the field
          autoFocus
          type="text"
          value={query}
          aria-label={t("editor.find.query")}
          placeholder={t("editor.find.query")}
          className={`${FIELD} w-44 grow sm:grow-0`}
          onChange={({ target }) => {
            setMessage("");
            setQuery(target.value);
          }}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            go(event.shiftKey ? -1 : 1);
          }}
        />
        <output className="text-soft min-w-20 text-sm tabular-nums">{message || (query === "" ? "" : position)}</output>
        <Tool label={t("editor.find.previous")} isDisabled={count === 0} onPress={() => go(-1)}>
          <ChevronUp aria-hidden="true" className="size-5" />
        </Tool>
        <Tool label={t("editor.find.next")} isDisabled={count === 0} onPress={() => go(1)}>
          <ChevronDown aria-hidden="true" className="size-5" />
        </Tool>
        <ToggleButton
          aria-label={t("editor.find.case")}
          isSelected={isCaseSensitive}
          onChange={setCaseSensitive}
          className="tool inline-flex size-9 items-center justify-center rounded-lg"
        >
          <ALargeSmall aria-hidden="true" className="size-5" />
        </ToggleButton>
        {isEditable ? (
          <>
            <input
              type="text"
              value={replacement}
              aria-label={t("editor.find.replacement")}
              placeholder={t("editor.find.replacement")}
              className={`${FIELD} w-40 grow sm:grow-0`}
              onChange={({ target }) => setReplacement(target.value)}
            />
            <Button
              isDisabled={current < 0}
              className="tool h-9 rounded-lg px-2.5 text-sm disabled:opacity-40"
              onPress={() => {
                controller.dispatch(replaceCurrent(controller.state, replacement));
                controller.reveal();
              }}
            >
              {t("editor.find.replace")}
            </Button>
            <Button
              isDisabled={count === 0}
              className="tool h-9 rounded-lg px-2.5 text-sm disabled:opacity-40"
              onPress={() => {
                controller.dispatch(replaceAll(controller.state, replacement));
                setMessage(t("editor.find.replaced", { count }));
              }}
            >
              {t("editor.find.all")}
            </Button>
          </>
        ) : null}
        <span className="ms-auto" />
        <Tool label={t("editor.find.close")} onPress={close}>
          <X aria-hidden="true" className="size-5" />
        </Tool>
      </div>
    </search>
  );
}

function Tool({
  label,
  isDisabled = false,
  onPress,
  children,
}: {
  label: string;
  isDisabled?: boolean;
  onPress: () => void;
  children: React.ReactNode;
}) {
  return (
    <Button
      aria-label={label}
      isDisabled={isDisabled}
      onPress={onPress}
      className="tool inline-flex size-9 items-center justify-center rounded-lg disabled:opacity-40"
    >
      {children}
    </Button>
  );
}
